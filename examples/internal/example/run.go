// Package example runs the example programs for real: on this terminal and with journals in a directory.
package example

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

// Options is what a program needs besides the terminal.
type Options struct {
	// Model sets the model of the program, such as model.OrScript; nil if it uses none.
	Model func(*program.Env) error
	// Discord connects the program to Discord: to the real one if DISCORD_TOKEN is set, otherwise to a virtual one that is
	// shown in this terminal.
	Discord bool
}

// Main runs a program until Ctrl-C, a signal to stop or the end of its input, and ends the process.
func Main(configure program.Configure, options Options) { os.Exit(run(configure, options)) }

func run(configure program.Configure, options Options) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()

	env := &program.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Clock:       clockwork.NewRealClock(),
		Logger:      slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		OpenJournal: openJournal,
	}

	if options.Model != nil {
		err := options.Model(env)
		if err != nil {
			return report(err)
		}
	}

	if options.Discord {
		return runDiscord(ctx, env, configure)
	}

	return report(program.Run(ctx, env, configure))
}

// report prints an error and returns the exit code.
func report(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)

		return 1
	}

	return 0
}

// openJournal opens a journal below $FLOW_DATA, "data" by default.
func openJournal(name string) (journal.Journal[flow.Entry], error) {
	dir := os.Getenv("FLOW_DATA")
	if dir == "" {
		dir = "data"
	}

	opened, err := journal.OpenFile[flow.Entry](journal.FileConfig{Dir: filepath.Join(dir, name)})
	if err != nil {
		return nil, err
	}

	fmt.Fprintf(os.Stderr, "The conversation is kept in %s.\n", filepath.Join(dir, name))

	return opened, nil
}
