// Package cli implements the commands of tarsy: their names, how they read flags and the environment, their output and their exit codes.
// Data goes to stdout, messages to stderr.
//
// The server commands wire an app; all others are clients of the public API. No product logic lives here.
package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"
)

// Process is what a command knows about its process.
type Process struct {
	// Name is the name by which the program was called, for hints that people can type.
	Name   string
	Args   []string
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	// Env is the environment, as os.Environ returns it.
	Env []string
	// Executable is the path of this program, which the demo starts again as its MCP server.
	Executable string
	// Hangup receives when the process gets SIGHUP. A server reloads its configuration; any other command gives up. Hangup may be nil.
	Hangup <-chan os.Signal
	// Columns returns the width of a stream that is a terminal, and zero for any other; nil asks the operating system.
	Columns func(stream any) int
}

// Run runs one command and returns the exit code. When ctx is done, servers stop in order and clients give up.
func Run(ctx context.Context, process Process) int {
	ctx, cancel := context.WithCancel(ctx)
	t := &tool{output: output{process}, origins: map[string]string{}, serving: &atomic.Bool{}, dotEnv: &atomic.Pointer[map[string]string]{}, chosen: make(chan struct{}), reloads: make(chan struct{}, 1)}

	var listening sync.WaitGroup

	listening.Go(func() { t.listenHangups(ctx, cancel) })
	defer listening.Wait()
	defer cancel()

	root := t.root()
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
		t.infof("tarsy: %s", message)
	}

	return code
}

// tool is one run of the program.
type tool struct {
	output

	started bool              // flags and arguments were valid, and a command runs
	origins map[string]string // where the value of each flag comes from
	dotEnv  *atomic.Pointer[map[string]string]

	// serving means that SIGHUP reloads the configuration, which is signalled on reloads. It is final once chosen is closed.
	serving *atomic.Bool
	chosen  chan struct{}
	reloads chan struct{}
}

// listenHangups forwards hangups until ctx is done.
func (t *tool) listenHangups(ctx context.Context, giveUp func()) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.Hangup:
		}

		// A hangup may arrive before the command is known.
		select {
		case <-ctx.Done():
			return
		case <-t.chosen:
		}

		if !t.serving.Load() {
			giveUp()

			return
		}

		select {
		case t.reloads <- struct{}{}:
		default: // a pending reload reads the same files
		}
	}
}

func (t *tool) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "tarsy",
		Short: "Investigate alerts with AI agents, and watch them live",
		Long: `TARSy investigates alerts with a team of AI agents and returns an answer that you can check.

Run  tarsy demo  to try it without an API key or any configuration, or  tarsy serve  for your own alerts.
A flag overrides its environment variable, which overrides the configuration files, which override the defaults.

Exit codes: 0 success · 1 failure · 2 usage error · 3 not found · 4 not authorized · 5 the session or answer did not complete · 130 interrupted`,
		Example: `  tarsy demo                          run a server with example alerts
  tarsy submit -m "checkout is slow"  submit an alert
  tarsy watch                         follow the agents live
  tarsy ask 5f3a9c21 "why?"           ask a follow-up question`,
		SilenceErrors: true, SilenceUsage: true,
		Args: onlyCommands,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			t.serving.Store(cmd.CommandPath() == "tarsy serve")
			close(t.chosen)

			return t.bind(cmd)
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see %s --help", plain(err), cmd.CommandPath())
	})
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.AddGroup(
		&cobra.Group{ID: groupServer, Title: "Server:"},
		&cobra.Group{ID: groupClient, Title: "Client:"},
		&cobra.Group{ID: groupHelp, Title: "Setup and help:"},
	)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { _ = t.printf("%s", describeCommand(cmd, t.columns(t.Stdout))) })
	root.SetHelpCommand(helpCommand())
	root.SetCompletionCommandGroupID(groupHelp)
	root.AddCommand(
		serveCommand(t), demoCommand(t), demoClusterCommand(), mockCommand(t), databaseCommand(t),
		submitCommand(t), watchCommand(t), askCommand(t), rerunCommand(t), exportCommand(t), sessionsCommand(t), approvalsCommand(t), feedbackCommand(t), qualityCommand(t), noteCommand(t), notesCommand(t), webhooksCommand(t), silencesCommand(t), suppressedCommand(t), pauseCommand(t), pausesCommand(t), resumeCommand(t), keysCommand(t), auditCommand(t), mcpCommand(t),
		initCommand(t), configCommand(t), doctorCommand(t), smokeCommand(t), supportBundleCommand(t), licensesCommand(t), versionCommand(t),
	)
	t.mark(root)

	return root
}

// mark records when a command starts. Earlier failures are usage errors.
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

// lookup returns a variable of the environment, even an empty one, or else of the file next to the configuration.
func (t *tool) lookup(name string) (string, bool) {
	for _, entry := range t.Env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}

	if added := t.dotEnv.Load(); added != nil {
		value, ok := (*added)[name]

		return value, ok
	}

	return "", false
}
