package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
	"tarsy.dev/tarsy/internal/client/live"
)

const (
	formatText = "text"
	formatJSON = "json"

	// The formats that only lists have.
	formatYAML = "yaml"
	// formatWide is a table of which nothing is cut.
	formatWide = "wide"
	// formatName is one id per line.
	formatName = "name"
)

// output is where a command writes: data to stdout and messages to stderr, formatted for a terminal or for a program.
type output struct{ Process }

// outputFlag adds -o, with text, JSON and more formats.
func outputFlag(cmd *cobra.Command, more ...string) *choice {
	format := newChoice(formatText, append([]string{formatJSON}, more...)...)
	cmd.Flags().VarP(format, "output", "o", "output format")
	offer(cmd, "output", format.allowed)

	return format
}

// infof writes a message to stderr. A failure to write it is ignored.
func (o *output) infof(format string, args ...any) {
	_, _ = fmt.Fprintf(o.Stderr, format+"\n", args...)
}

// gap separates messages from data if both go to a terminal.
func (o *output) gap() {
	if o.isTerminal(o.Stdout) && o.isTerminal(o.Stderr) {
		o.infof("")
	}
}

// printf writes data to stdout.
func (o *output) printf(format string, args ...any) error {
	if _, err := fmt.Fprintf(o.Stdout, format, args...); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}

	return nil
}

// variable looks up an environment variable. An empty variable counts as not set.
func (o *output) variable(name string) (string, bool) {
	for _, entry := range o.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, value != ""
		}
	}

	return "", false
}

// palette returns colours if out is a terminal and colours are not disabled.
func (o *output) palette(out io.Writer) terminal.Palette {
	_, plain := o.variable("NO_COLOR")

	return terminal.Palette{Colour: o.isTerminal(out) && !plain && !o.dumb()}
}

// columns returns the width of a terminal, and zero for any other stream.
func (o *output) columns(stream any) int {
	if o.Columns != nil {
		return o.Columns(stream)
	}

	file, ok := stream.(*os.File)
	if !ok || !terminal.Is(file.Fd()) {
		return 0
	}

	// Some terminals do not report a width.
	return cmp.Or(terminal.Columns(file.Fd()), defaultColumns)
}

const defaultColumns = 80

func (o *output) isTerminal(stream any) bool { return o.columns(stream) > 0 }

// dumb reports whether the terminal supports no escape sequences.
func (o *output) dumb() bool {
	kind, _ := o.variable("TERM")

	return kind == "dumb"
}

// printJSON prints a value as indented JSON.
func (o *output) printJSON(value any) error {
	text, err := encodeJSON(value, "  ")
	if err != nil {
		return err
	}

	return o.printf("%s\n", text)
}

// printYAML prints a value as YAML.
func (o *output) printYAML(value any) error {
	text, err := encodeYAML(value)
	if err != nil {
		return err
	}

	return o.printf("%s", text)
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

// textWidth is the maximum width of prose.
const textWidth = 110

// printMarkdown prints Markdown: rendered on a terminal, unchanged elsewhere.
func (o *output) printMarkdown(text string) error {
	text = strings.TrimSpace(terminal.Clean(text))

	if width := o.columns(o.Stdout); width > 0 {
		o.gap()
		text = strings.Join(o.palette(o.Stdout).Markdown(text, min(width, textWidth), terminal.Plain), "\n")
	}

	return o.printf("%s\n", text)
}

// printVerdict prints a verdict and an empty line.
func (o *output) printVerdict(verdict tarsy.Verdict) error {
	layout := watch.VerdictLayout{Palette: o.palette(o.Stdout), Width: min(o.columns(o.Stdout), textWidth), WholeCommands: true}

	o.gap()

	return o.printf("%s\n\n", strings.Join(layout.Lines(verdict), "\n"))
}

// lines returns a writer that prints a session as lines, wrapped to the terminal's width if out is one.
func (o *output) lines(out io.Writer, detail tarsy.SessionDetail) (*watch.Lines, *live.Session) {
	session := live.NewSession(detail)
	lines := watch.NewLines(out, session)
	lines.Width = o.columns(out)

	return lines, session
}
