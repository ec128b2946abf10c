package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

const (
	referencePath  = "../../docs/cli.md"
	referenceBegin = "<!-- Everything below is written by make golden. -->\n"
)

func TestReferenceMatchesCommands(t *testing.T) {
	t.Parallel()

	var out strings.Builder

	describe(&out, cli.Root())

	raw, err := os.ReadFile(referencePath)
	require.NoError(t, err)

	text, _, found := strings.Cut(string(raw), referenceBegin)
	require.True(t, found, "docs/cli.md has lost its mark")

	want := text + referenceBegin + out.String()
	if *update {
		require.NoError(t, os.WriteFile(referencePath, []byte(want), 0o600))

		return
	}

	if diff := cmp.Diff(string(raw), want); diff != "" {
		t.Errorf("docs/cli.md is not up to date; run make golden (-have +want):\n%s", diff)
	}
}

func describe(out *strings.Builder, cmd *cobra.Command) {
	for _, child := range cmd.Commands() {
		if child.Hidden || child.Name() == "help" || child.Name() == "completion" {
			continue
		}

		fmt.Fprintf(out, "\n%s `%s`\n\n", strings.Repeat("#", strings.Count(child.CommandPath(), " ")+2), child.CommandPath())
		fmt.Fprintf(out, "%s.\n", child.Short)

		if child.Long != "" {
			fmt.Fprintf(out, "\n%s\n", child.Long)
		}

		if child.Runnable() {
			fmt.Fprintf(out, "\n```\n%s\n```\n", child.UseLine())
		}

		if child.Example != "" {
			fmt.Fprintf(out, "\n```sh\n%s\n```\n", strings.TrimPrefix(strings.ReplaceAll(child.Example, "\n  ", "\n"), "  "))
		}

		flagTable(out, child)
		describe(out, child)
	}
}

func flagTable(out *strings.Builder, cmd *cobra.Command) {
	var rows []string

	cmd.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if flag.Name == "help" {
			return
		}

		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand + ", " + name
		}

		usage, variable, _ := strings.Cut(strings.TrimSuffix(flag.Usage, "]"), " [")
		if strings.Contains(flag.Value.Type(), "|") {
			usage += ": " + strings.ReplaceAll(flag.Value.Type(), "|", ", ")
		}

		def := strings.Trim(flag.DefValue, "[]")
		if def == "false" || flag.Name == "workers" {
			def = ""
		}

		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", name, code(variable), code(def), strings.ReplaceAll(usage, "|", `\|`)))
	})

	if len(rows) > 0 {
		fmt.Fprintf(out, "\n| flag | variable | default | meaning |\n| --- | --- | --- | --- |\n%s\n", strings.Join(rows, "\n"))
	}
}

func code(text string) string {
	if text == "" {
		return ""
	}

	return "`" + text + "`"
}

func TestEveryCommandHasHelpWithExamples(t *testing.T) {
	t.Parallel()

	var visit func(cmd *cobra.Command)

	visit = func(cmd *cobra.Command) {
		for _, child := range cmd.Commands() {
			if child.Hidden || child.Name() == "help" || child.Name() == "completion" {
				continue
			}

			require.NotEmpty(t, child.Short, child.CommandPath())
			require.NotEmpty(t, child.Example, child.CommandPath())
			visit(child)
		}
	}
	visit(cli.Root())
}
