// Package cli is the commands of tarsy: what they are called, what they read from flags and the environment, what they
// print, and with which code they end. Data goes to stdout, talk to stderr.
//
// The server commands wire an app; all others are clients of the public API. No behaviour of the product lives here.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
)

// Process is what a command knows of the process it runs in.
type Process struct {
	// Name is how the program was called, for hints that people can type.
	Name   string
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Env is the environment, as os.Environ returns it.
	Env []string
	// Executable is the path of this program, which the demo starts again as its MCP server.
	Executable string
}

// Run runs one command and returns the exit code. When ctx is done, servers stop in order and clients give up.
func Run(ctx context.Context, process Process) int {
	t := &tool{Process: process, origins: map[string]string{}}
	root := t.root() //nolint:contextcheck // commands get the context when they run
	root.SetArgs(process.Args)
	root.SetIn(process.Stdin)
	root.SetOut(process.Stdout)
	root.SetErr(process.Stderr)

	err := root.ExecuteContext(ctx)
	if err != nil && !t.started {
		err = usageError{err}
	}

	if err == nil {
		return ExitOK
	}

	code, message := explain(ctx, err)
	if message != "" {
		t.sayf("tarsy: %s", message)
	}

	return code
}

// tool is one run of the program.
type tool struct {
	Process

	started bool              // flags and arguments were right, a command runs
	origins map[string]string // where the value of each flag came from
}

func (t *tool) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tarsy",
		Short: "AI agents investigate your alerts, and you can watch them",
		Long: `TARSy takes an alert, puts a team of AI agents on it, and gives you back an answer that you can check.

Start with  tarsy demo  to see it work without a key or any configuration, or with  tarsy serve  for your own alerts.
A flag beats its environment variable, which beats the configuration files, which beat what is built in.

Exit codes: 0 done · 1 failed · 2 wrong use · 3 not found · 4 not allowed · 5 the session or the answer did not complete · 130 interrupted`,
		Example: `  tarsy demo                          a server with example alerts, ready to look at
  tarsy submit -m "checkout is slow"  hand in an alert
  tarsy watch                         follow what the agents do
  tarsy ask 5f3a9c21 "why?"           ask about what they found`,
		SilenceErrors: true, SilenceUsage: true,
		Args:              onlyCommands,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return t.bind(cmd) },
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", plain(err), cmd.CommandPath())
	})
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Server:"},
		&cobra.Group{ID: groupClient, Title: "Client:"},
		&cobra.Group{ID: groupHelp, Title: "Set-up and help:"},
	)
	root.SetHelpCommandGroupID(groupHelp)
	root.SetCompletionCommandGroupID(groupHelp)
	root.AddCommand(
		t.serve(), t.demo(), t.demoMCP(), t.mock(),
		t.submit(), t.watch(), t.ask(), t.rerun(), t.export(), t.sessions(), t.keys(),
		t.config(), t.doctor(), t.version(),
	)
	t.mark(root)

	return root
}

// suggestionDistance is how many letters a command may be off to be suggested.
const suggestionDistance = 2

var errNoCommand = errors.New("there is no such command")

// onlyCommands refuses what is not a command, and says which is nearest.
func onlyCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}

	cmd.SuggestionsMinimumDistance = suggestionDistance
	hint := cmd.CommandPath() + " --help lists them"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}

	return fmt.Errorf("%w as %s %s; %s", errNoCommand, cmd.CommandPath(), terminal.Line(args[0]), hint)
}

// mark notes when a command begins: what fails before that was wrong use.
func (t *tool) mark(cmd *cobra.Command) {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			t.started = true

			return run(cmd, args)
		}
	}

	for _, child := range cmd.Commands() {
		t.mark(child)
	}
}

const (
	groupServer = "server"
	groupClient = "client"
	groupHelp   = "help"
)

// sayf writes a line of talk. Where it cannot be written there is nobody to tell.
func (t *tool) sayf(format string, args ...any) {
	_, _ = fmt.Fprintf(t.Stderr, format+"\n", args...)
}

// gap parts talk from data where people see both.
func (t *tool) gap() {
	if isTerminal(t.Stdout) && isTerminal(t.Stderr) {
		t.sayf("")
	}
}

// printf writes data.
func (t *tool) printf(format string, args ...any) error {
	if _, err := fmt.Fprintf(t.Stdout, format, args...); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}

	return nil
}

// variable looks up the environment; an empty variable counts as not set.
func (t *tool) variable(name string) (string, bool) {
	for _, entry := range t.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, value != ""
		}
	}

	return "", false
}

// lookup is the environment as it is, for the configuration's own variables.
func (t *tool) lookup(name string) (string, bool) {
	for _, entry := range t.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}

	return "", false
}

// palette paints where somebody can see it and did not ask for plain text.
func (t *tool) palette(out io.Writer) terminal.Palette {
	_, plain := t.variable("NO_COLOR")
	kind, _ := t.variable("TERM")

	return terminal.Palette{Colour: isTerminal(out) && !plain && kind != "dumb"}
}

// columns is how wide a stream is that is a terminal; zero if it is none.
func columns(stream any) int {
	file, ok := stream.(*os.File)
	if !ok {
		return 0
	}

	return terminal.Columns(file.Fd())
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	if !ok {
		return false
	}

	return terminal.Is(file.Fd())
}
