package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

// listLimit is how many sessions the list offers.
const listLimit = 100

// someHeight is the height of a terminal that nobody can measure.
const someHeight = 24

// Options are what a screen runs on.
type Options struct {
	Client    *client.Client
	SessionID string
	Palette   terminal.Palette
	// Columns is the width of the terminal until it reports its own.
	Columns int
	In      io.Reader
	Out     io.Writer
	Env     []string
}

// Run shows the screen until somebody leaves it. It returns the session that was on it, nil if there was none.
func Run(ctx context.Context, options Options) (*live.Session, error) {
	r := &runner{ctx: ctx, client: options.Client, leave: func() {}}
	// When this runs the screen has ended: messages are dropped, so the reader cannot be stuck on sending one.
	defer r.reading.Wait()
	defer r.stop()

	model := newModel(modelConfig{
		Actions: actions{Open: r.open, Leave: r.stop, List: r.list, Cancel: r.cancel, Ask: r.ask},
		Palette: options.Palette, Server: options.Client.Server(), SessionID: options.SessionID, Now: time.Now(),
	})
	r.program = tea.NewProgram(model, tea.WithContext(ctx), tea.WithInput(options.In), tea.WithOutput(options.Out),
		tea.WithEnvironment(options.Env), tea.WithWindowSize(options.Columns, someHeight), tea.WithoutSignalHandler())

	if _, err := r.program.Run(); err != nil && !errors.Is(err, tea.ErrInterrupted) && ctx.Err() == nil {
		return nil, fmt.Errorf("show the screen: %w", err)
	}

	if err := context.Cause(ctx); err != nil {
		return model.Session(), err
	}

	return model.Session(), model.Err()
}

// runner follows the session that is on the screen. Only the screen's goroutine calls open and stop.
type runner struct {
	ctx     context.Context //nolint:containedctx // the life of the screen
	client  *client.Client
	program *tea.Program
	leave   context.CancelFunc
	reading sync.WaitGroup
}

// open follows a session, and no longer the one before.
func (r *runner) open(id string) {
	r.stop()

	ctx, cancel := context.WithCancel(r.ctx)
	r.leave = cancel
	r.reading.Go(func() { r.follow(ctx, id) })
}

// stop ends following. It does not wait for the reader: the screen calls it, and the reader may be waiting for the
// screen to take a message.
func (r *runner) stop() { r.leave() }

func (r *runner) follow(ctx context.Context, id string) {
	detail, err := r.client.Session(ctx, id)
	if err != nil {
		r.send(ctx, failedMsg{id, err})

		return
	}

	r.send(ctx, openedMsg{detail})

	for update, err := range r.client.FollowOn(ctx, id, 0) {
		if err != nil {
			r.send(ctx, failedMsg{id, err})

			return
		}

		r.send(ctx, updateMsg{id, update})

		if detail.Verdict == nil && IsVerdict(update) {
			r.sendVerdict(ctx, id)
		}
	}
}

// sendVerdict loads what the journal does not have of a verdict. If that fails, the screen shows what the journal has.
func (r *runner) sendVerdict(ctx context.Context, id string) {
	if detail, err := r.client.Session(ctx, id); err == nil && detail.Verdict != nil {
		r.send(ctx, verdictMsg{id, detail.Verdict})
	}
}

// IsVerdict reports whether an update brings the verdict of a session. All of the verdict can be loaded then.
func IsVerdict(update client.Update) bool {
	return update.Event != nil && update.Event.Type == tarsy.TypeSessionVerdict
}

// send drops what nobody waits for any more.
func (r *runner) send(ctx context.Context, msg tea.Msg) {
	if ctx.Err() == nil {
		r.program.Send(msg)
	}
}

func (r *runner) list() ([]tarsy.SessionItem, error) {
	var items []tarsy.SessionItem

	for item, err := range client.List(r.ctx, r.client, client.ListSessions, client.Filter{}, listLimit) {
		if err != nil {
			return nil, err
		}

		items = append(items, item)
	}

	return items, nil
}

func (r *runner) cancel(id string) error {
	_, err := client.Call(r.ctx, r.client, client.CancelSession, nil, id)

	return err
}

func (r *runner) ask(id, question string) (client.Asked, error) {
	return client.Call(r.ctx, r.client, client.Ask, client.Question{Content: question}, id)
}
