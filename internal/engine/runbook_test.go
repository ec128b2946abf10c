package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const runbookURL = "https://runbooks.example/it-hurts"

// library serves runbooks. Each read signals reached and blocks until leave is signalled.
type library struct {
	reads   atomic.Int32
	failure error
	reached chan struct{}
	leave   chan struct{}
}

func newLibrary() *library {
	const room = 16

	return &library{reached: make(chan struct{}, room), leave: make(chan struct{})}
}

func (l *library) fetch(ctx context.Context, url string) (string, error) {
	l.reads.Add(1)
	l.reached <- struct{}{}

	select {
	case <-l.leave:
	case <-ctx.Done():
		return "", fmt.Errorf("read %s: %w", url, ctx.Err())
	}

	if l.failure != nil {
		return "", l.failure
	}

	return "how to \x00heal", nil
}

func (l *library) use(c *Config) { c.FetchRunbook, c.DefaultRunbook = l.fetch, "the default" }

func (s *server) submitWithRunbook(text string) string {
	s.fixture.t.Helper()

	session, err := s.intake.Submit(s.fixture.ctx, tarsy.Alert{AlertType: "test", Data: "it hurts", Runbook: text, RunbookURL: runbookURL})
	require.NoError(s.fixture.t, err)

	return session.ID
}

// expectRunbook scripts a session whose agent must be given this runbook.
func (h *fixture) expectRunbook(text string) {
	h.forAgent("investigator", script.Reply{Text: "the root cause", Expect: func(r *llm.Request) error {
		for _, m := range r.Messages {
			if strings.Contains(m.Content, text) {
				return nil
			}
		}

		return fmt.Errorf("the agent was not given %q", text)
	}})
	h.summary(script.Reply{Text: "in short"})
}

func TestRunbookIsFetchedBeforeFirstStageOfStartedSession(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.expectRunbook("how to heal")

	library := newLibrary()
	s := h.start("one", library.use)
	id := s.submitWithRunbook("")
	h.wait(library.reached, "the runbook to be read")
	h.settled(s)

	detail := s.detail(id)
	require.Equal(t, tarsy.SessionInProgress, detail.Status)
	require.NotNil(t, detail.StartedAt)
	require.Empty(t, detail.Stages)
	close(library.leave)
	require.Equal(t, []string{"pending", "in_progress", "completed"}, s.ended(id))

	detail = s.detail(id)
	require.Equal(t, "how to heal", detail.Runbook)
	require.Equal(t, runbookURL, detail.RunbookURL)
	require.Equal(t, int32(1), library.reads.Load())
	require.Zero(t, query[int](h, `SELECT count(*) FROM timeline_events WHERE session_id = $1 AND event_type = 'error'`, id))
	h.requireWhole(id)
}

func TestUnreadableRunbookIsReplacedByDefaultVisibly(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.expectRunbook("the default")

	library := newLibrary()
	library.failure = errors.New("404 \x00 not found")
	close(library.leave)

	s := h.start("one", library.use)
	id := s.submitWithRunbook("")
	require.Equal(t, "the default", s.completes(id).Runbook)
	require.Equal(t, "The runbook could not be read: 404  not found. The default runbook is used instead.",
		query[string](h, `SELECT content FROM timeline_events WHERE session_id = $1 AND event_type = 'error'
AND status = 'completed' AND metadata->>'code' = 'runbook_unavailable' AND stage_id IS NULL AND sequence_number = 1`, id))
	h.requireWhole(id)
}

func TestInlineRunbookIsNotFetched(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.expectRunbook("as the alert says")

	library := newLibrary()
	s := h.start("one", library.use)
	require.Equal(t, "as the alert says", s.completes(s.submitWithRunbook("as the alert says")).Runbook)
	require.Zero(t, library.reads.Load())
}

func TestRunbookFetchOfLostServerIsRepeated(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	clock := h.fakeClock()
	h.expectRunbook("how to heal")

	h.blockRenewals("frozen")

	library, again := newLibrary(), newLibrary()
	frozen := h.start("frozen", func(c *Config) {
		library.use(c)

		c.RenewEvery = 24 * time.Hour
	})
	lost := frozen.logged.watch("lost the lease; another server continues")
	id := frozen.submitWithRunbook("")
	h.wait(library.reached, "the runbook to be read")
	h.settled(frozen)
	clock.Advance(frozen.Lease + time.Second)

	other := h.start("other", again.use)
	h.wait(again.reached, "the runbook to be read again")
	close(again.leave)
	require.Equal(t, "how to heal", other.completes(id).Runbook)

	footprint := h.footprint(id)

	close(library.leave)
	h.wait(lost, "the loss to be noticed")
	require.Equal(t, footprint, h.footprint(id))
	h.requireWhole(id)
}

func TestStoppingServerInterruptsRunbookFetch(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.expectRunbook("how to heal")

	library := newLibrary()
	s := h.start("one", library.use)
	id := s.submitWithRunbook("")
	h.wait(library.reached, "the runbook to be read")
	s.Stop(h.ctx)
	require.Equal(t, tarsy.SessionInProgress, s.detail(id).Status)
	require.Empty(t, s.detail(id).Stages)
	require.Zero(t, query[int](h, `SELECT count(*) FROM timeline_events WHERE session_id = $1`, id), "that was no failure")

	close(library.leave)
	require.Equal(t, "how to heal", h.start("two", library.use).completes(id).Runbook)
	require.Equal(t, int32(2), library.reads.Load())
	h.requireWhole(id)
}

func TestRunbookFetchIsCancelledAndTimesOutWithSession(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		end  func(s *server, id string, advance func(time.Duration))
		want []string
	}{
		"cancelled": {
			func(s *server, id string, _ func(time.Duration)) { s.cancel(id) },
			[]string{"pending", "in_progress", "cancelling", "cancelled"},
		},
		"timed out": {
			func(s *server, _ string, advance func(time.Duration)) { advance(s.settings.Load().SessionTimeout) },
			[]string{"pending", "in_progress", "timed_out"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			clock := h.fakeClock()
			library := newLibrary()
			s := h.start("one", library.use)
			id := s.submitWithRunbook("")
			h.wait(library.reached, "the runbook to be read")
			test.end(s, id, clock.Advance)
			require.Equal(t, test.want, s.ended(id))
			require.Empty(t, s.detail(id).Stages)
			require.Empty(t, h.model.Calls())
			h.requireWhole(id)
		})
	}
}
