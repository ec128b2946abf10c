package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/licenses"
)

func licensesCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "licenses", Short: "List the licences of what the program contains", GroupID: groupHelp, Args: namedArgs,
		Long: `Lists the Go modules, the packages of the dashboard and the data of others that this program contains, each with its version and licence
(SPDX identifiers). With --text it prints all licences and notices in full. TARSy itself is licensed under Apache-2.0.`,
		Example: "  tarsy licenses\n  tarsy licenses --text | less\n  tarsy licenses -o json",
	}
	format := outputFlag(cmd)
	text := cmd.Flags().Bool("text", false, "print all texts; with -o json, each part with its texts")

	cmd.RunE = func(*cobra.Command, []string) error {
		if *text && format.value == formatText {
			return t.printf("%s\n", strings.TrimSuffix(licenses.Text(), "\n"))
		}

		parts, err := licenses.Parts()
		if err != nil {
			return err
		}

		rows := make([][]string, 0, len(parts))

		for i, p := range parts {
			rows = append(rows, []string{p.Kind, p.Name, p.Version, p.License})

			if !*text {
				parts[i].Texts = nil
			}
		}

		if format.value == formatJSON {
			return t.printJSON(parts)
		}

		return t.table([]column{{name: "KIND"}, {name: "NAME", cut: true}, {name: "VERSION", cut: true}, {name: "LICENCE"}}, rows)
	}

	return cmd
}
