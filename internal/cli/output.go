package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
)

const (
	formatText = "text"
	formatJSON = "json"
)

// outputFlag adds -o.
func outputFlag(cmd *cobra.Command) *choice {
	format := newChoice(formatText, formatJSON)
	cmd.Flags().VarP(format, "output", "o", "output format")
	// The flag's values complete by themselves; there is nothing that could fail.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(format.allowed, cobra.ShellCompDirectiveNoFileComp))

	return format
}

// printJSON prints a value as indented JSON.
func (t *tool) printJSON(value any) error {
	text, err := encodeJSON(value, "  ")
	if err != nil {
		return err
	}

	return t.printf("%s\n", text)
}

func encodeJSON(value any, indent string) ([]byte, error) {
	var out bytes.Buffer

	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)

	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encode the output: %w", err)
	}

	return terminal.JSON(bytes.TrimSpace(out.Bytes())), nil
}

// textWidth is the widest that prose is set for people.
const textWidth = 110

// printMarkdown prints Markdown: rendered on a terminal, unchanged elsewhere.
func (t *tool) printMarkdown(text string) error {
	text = strings.TrimSpace(terminal.Clean(text))

	if width := t.columns(t.Stdout); width > 0 {
		t.gap()
		text = strings.Join(t.palette(t.Stdout).Markdown(text, min(width, textWidth), terminal.Plain), "\n")
	}

	return t.printf("%s\n", text)
}

// printVerdict prints a verdict and an empty line.
func (t *tool) printVerdict(verdict tarsy.Verdict) error {
	layout := watch.VerdictLayout{Palette: t.palette(t.Stdout), Width: min(t.columns(t.Stdout), textWidth), WholeCommands: true}

	t.gap()

	return t.printf("%s\n\n", strings.Join(layout.Lines(verdict), "\n"))
}

// lines writes a session as lines, as wide as the terminal if out is one.
func (t *tool) lines(out io.Writer, detail tarsy.SessionDetail) (*watch.Lines, *watch.Session) {
	session := watch.NewSession(detail)
	lines := watch.NewLines(out, session)
	lines.Width = t.columns(out)

	return lines, session
}
