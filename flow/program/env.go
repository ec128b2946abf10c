// Package program runs flows as programs. The environment of a program (the terminal, the model, Discord, the disk, the clock)
// is one value of type [Env], so a test can run the program's own configuration with virtual parts.
package program

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/llm"
)

// Env is the environment of a program.
type Env struct {
	// In, Out and Err are the terminal.
	In       io.Reader
	Out, Err io.Writer
	// LLM answers prompts. Provider and Model are passed to it.
	LLM             llm.Client
	Provider, Model string
	// Discord configures the connection to Discord.
	Discord DiscordAccess
	Clock   clockwork.Clock
	Logger  *slog.Logger

	// OpenJournal opens a persistent journal. Nil keeps journals in memory.
	OpenJournal func(name string) (journal.Journal[flow.Entry], error)
	// OverrideWindow and OverrideShatter replace the policies of the program if they are set.
	OverrideWindow  flow.Window
	OverrideShatter flow.Shatter

	mu      sync.Mutex
	closers []io.Closer
}

// DiscordAccess is how a program connects to Discord.
type DiscordAccess struct {
	Token string
	// API and Gateway are the addresses of a server that replaces Discord.
	API, Gateway string
	// Channel is where the program listens and writes.
	Channel string
	// End is closed when no more messages will be written, like the end of a terminal's input; nil never ends.
	End <-chan struct{}
}

// Configure declares the flow of a program.
type Configure func(env *Env) (*flow.Flow, error)

// Window returns the program's window, or the one that overrides it.
func (e *Env) Window(own flow.Window) flow.Window {
	if e.OverrideWindow != nil {
		return e.OverrideWindow
	}

	return own
}

// Shatter returns the program's shatter, or the one that overrides it.
func (e *Env) Shatter(own flow.Shatter) flow.Shatter {
	if e.OverrideShatter != nil {
		return e.OverrideShatter
	}

	return own
}

// Journal opens a journal by name. Close closes it.
func (e *Env) Journal(name string) (journal.Journal[flow.Entry], error) {
	if e.OpenJournal == nil {
		return journal.NewMemory[flow.Entry](e.Clock), nil
	}

	opened, err := e.OpenJournal(name)
	if err != nil {
		return nil, err
	}

	if closer, ok := opened.(io.Closer); ok {
		e.mu.Lock()
		defer e.mu.Unlock()

		e.closers = append(e.closers, closer)
	}

	return opened, nil
}

// Close closes the journals that were opened.
func (e *Env) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()

	var errs []error
	for _, closer := range e.closers {
		errs = append(errs, closer.Close())
	}

	e.closers = nil

	return errors.Join(errs...)
}

// Run configures a program and runs it until the context or its inputs end.
func Run(ctx context.Context, env *Env, configure Configure) error {
	built, err := configure(env)
	if err != nil {
		return errors.Join(err, env.Close())
	}

	return errors.Join(built.Run(ctx), env.Close())
}
