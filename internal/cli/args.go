package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// suggestionDistance is the maximum edit distance of a suggested command.
const suggestionDistance = 2

var (
	errUnknownCommand = errors.New("unknown command")
	errMissingArg     = errors.New("missing argument")
	errUnexpectedArg  = errors.New("unexpected argument")
)

// namedArgs checks a command's arguments against its usage line, such as "ask SESSION [QUESTION]", so that an error
// can name the missing one.
func namedArgs(cmd *cobra.Command, args []string) error {
	names := strings.Fields(cmd.Use)[1:]

	for i, name := range names {
		if i >= len(args) && !strings.HasPrefix(name, "[") {
			return fmt.Errorf("%w %s; usage: %s", errMissingArg, name, cmd.UseLine())
		}
	}

	if len(args) > len(names) {
		return fmt.Errorf("%w %q; usage: %s", errUnexpectedArg, terminal.Line(args[len(names)]), cmd.UseLine())
	}

	return nil
}

// onlyCommands rejects an argument that is not a command and suggests the nearest one.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	cmd.SuggestionsMinimumDistance = suggestionDistance
	hint := "see " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}

	return fmt.Errorf("%w %q for %q; %s", errUnknownCommand, terminal.Line(args[0]), cmd.CommandPath(), hint)
}

// helpCommand is cobra's help command, except that an unknown topic is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use: "help [COMMAND]...", Short: "Show the help of a command", GroupID: groupHelp,
		Example: "  tarsy help sessions list",
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			topic, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}

			var found []cobra.Completion

			for _, child := range topic.Commands() {
				if child.IsAvailableCommand() {
					found = append(found, cobra.CompletionWithDesc(child.Name(), child.Short))
				}
			}

			return found, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return onlyCommands(topic, append(rest, args...))
			}

			topic.InitDefaultHelpFlag()

			return topic.Help()
		},
	}
}
