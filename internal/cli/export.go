package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

const formatMarkdown = "markdown"

func exportCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "export SESSION", Short: "Export a session as JSON or as a Markdown report", GroupID: groupClient, Args: namedArgs,
		Long: `Writes a session to stdout or to a file (-f). JSON contains everything: the session, its timeline and its trace. Markdown is a
report for a ticket: facts, summary, analysis, cited tool calls, alert, outline, questions and answers.

A file receives the server's response unchanged. An existing file is replaced once the response is complete.`,
		Example: `  tarsy export 5f3a9c21 --format markdown -f report.md
  tarsy export 5f3a9c21 | jq -r .session.final_analysis`,
	}
	r := &remote{tool: t, connection: connectionFlags(cmd)}
	format := newChoice(formatJSON, formatMarkdown)
	cmd.Flags().Var(format, "format", "export format")
	offer(cmd, "format", format.allowed)
	file := cmd.Flags().StringP("file", "f", "", "file to write to (default: stdout)")

	r.onSession(cmd, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		if *file == "" {
			return printExport(ctx, t, c, id, format.value)
		}

		err := replaceFile(*file, func(out io.Writer) error { return c.Export(ctx, id, format.value, out) })
		if err != nil {
			return err
		}

		t.infof("Written to %s", terminal.Line(*file))

		return nil
	})

	return cmd
}

// printExport prints an export without control sequences.
func printExport(ctx context.Context, t *tool, c *client.Client, id, format string) error {
	var text bytes.Buffer

	if err := c.Export(ctx, id, format, &text); err != nil {
		return err
	}

	if format == formatJSON {
		return t.printf("%s", terminal.JSON(text.Bytes()))
	}

	return t.printf("%s", terminal.Clean(text.String()))
}

// replaceFile writes a file atomically: it appears only once it is complete.
func replaceFile(name string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("write the file: %w", err)
	}

	err = write(file)
	if closed := file.Close(); err == nil && closed != nil {
		err = fmt.Errorf("write the file: %w", closed)
	}

	if err == nil {
		err = os.Rename(file.Name(), name)
	}

	if err != nil {
		_ = os.Remove(file.Name()) // report the first error
	}

	return err
}
