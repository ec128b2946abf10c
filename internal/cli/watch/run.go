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

// listLimit is the maximum number of sessions in the list.
const listLimit = 100

// someHeight is assumed until the terminal reports its height.
const someHeight = 24

// Options configure a screen.
type Options struct {
	Client    *client.Client
	SessionID string
	Palette   terminal.Palette
	// Columns is the initial width, until the terminal reports its own.
	Columns int
	In      io.Reader
	Out     io.Writer
	Env     []string
}

// Run shows the screen until the user leaves it. It returns the last session on it, or nil if there was none.
func Run(ctx context.Context, options Options) (*live.Session, error) {
	r := &runner{ctx: ctx, client: options.Client, leave: func() {}}
	// At this point the screen has ended and drops messages, so the reader cannot block on sending one.
	defer r.reading.Wait()
	defer r.stop()

	model := newModel(modelConfig{
		Actions: actions{Open: r.open, Leave: r.stop, List: r.list, Cancel: r.cancel, Ask: r.ask, Approve: r.approve, Reject: r.reject},
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

// runner follows the session on the screen. Only the screen's goroutine calls open and stop.
type runner struct {
	ctx     context.Context //nolint:containedctx // the life of the screen
	client  *client.Client
	program *tea.Program
	leave   context.CancelFunc
	reading sync.WaitGroup
}

// open follows a session in place of the previous one.
func (r *runner) open(id string) {
	r.stop()

	ctx, cancel := context.WithCancel(r.ctx)
	r.leave = cancel
	r.reading.Go(func() { r.follow(ctx, id) })
}

// stop ends following. It does not wait for the reader: the screen calls it, and the reader may be waiting for the
// screen to accept a message.
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

// sendVerdict loads the whole verdict, because the journal contains only part of it. If that fails, the screen shows that part.
func (r *runner) sendVerdict(ctx context.Context, id string) {
	if detail, err := r.client.Session(ctx, id); err == nil && detail.Verdict != nil {
		r.send(ctx, verdictMsg{id, detail.Verdict})
	}
}

// IsVerdict reports whether an update contains the verdict of a session. From then on, the whole verdict can be loaded.
func IsVerdict(update client.Update) bool {
	return update.Event != nil && update.Event.Type == tarsy.TypeSessionVerdict
}

// send drops messages of a session that is no longer followed.
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

func (r *runner) approve(id string) error {
	_, err := client.Call(r.ctx, r.client, client.Approve, client.Approval{}, id)

	return err
}

func (r *runner) reject(id, reason string) error {
	_, err := client.Call(r.ctx, r.client, client.Reject, client.Rejection{Reason: reason}, id)

	return err
}

func (r *runner) ask(id, question string) (client.Asked, error) {
	return client.Call(r.ctx, r.client, client.Ask, client.Question{Content: question}, id)
}
