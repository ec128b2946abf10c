package engine

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestCommitWakesClaimBeforePoll(t *testing.T) {
	t.Parallel()

	const sessions = 20

	h := newFixture(t)
	h.fakeClock() // so that a session whose commit wakes no one waits forever: no renewal masks it
	h.pollEvery = time.Hour
	h.recipe = recipeOf([]string{"first"}, []string{"second"})
	h.forAgent("first", script.Reply{Text: "one"})
	h.forAgent("second", script.Reply{Text: "two"})
	h.summary(script.Reply{Text: "three"})

	s := h.start("one", func(c *Config) { c.Workers = 1 })

	for range sessions {
		s.completes(s.submit())
	}

	// With one worker and all sessions waiting, the freed worker takes the next one.
	var ids []string
	for range sessions {
		ids = append(ids, s.submit())
	}

	for _, id := range ids {
		s.completes(id)
	}
}

func TestLimitsAreExactPerServerAndAcrossServers(t *testing.T) {
	t.Parallel()

	const (
		sessions  = 24
		perServer = 2
		together  = 3
	)

	h := newFixture(t)
	// Every change of a lease records how many there are: more than the limits must never be committed.
	h.exec(`CREATE TABLE peaks (together bigint, server bigint)`)
	h.exec(`CREATE FUNCTION note_peak() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO peaks SELECT coalesce(sum(n), 0), coalesce(max(n), 0)
    FROM (SELECT count(*) AS n FROM sessions WHERE lease_until IS NOT NULL GROUP BY pod_id) l;
    RETURN NULL; END $$`)
	h.exec(`CREATE TRIGGER peak AFTER UPDATE OF lease_until ON sessions FOR EACH STATEMENT EXECUTE FUNCTION note_peak()`)

	// The first calls wait until the maximum number of sessions runs concurrently.
	full := make(chan struct{})

	var (
		mu      sync.Mutex
		running int
	)

	h.model.RouteFunc(func(r *llm.Request) bool { return r.Purpose == string(tarsy.InteractionIteration) }, func(*llm.Request, int) script.Reply {
		mu.Lock()
		running++

		if running == together {
			close(full)
		}
		mu.Unlock()

		<-full

		return script.Reply{Text: "found"}
	})
	h.summary(script.Reply{Text: "short"})

	limit := func(c *Config) { c.Workers, c.MaxSessions = perServer, together }
	one, two := h.open("one", limit), h.open("two", limit)

	var ids []string
	for range sessions / 2 {
		ids = append(ids, one.submit(), two.submit())
	}

	one.Start()
	two.Start()

	for _, id := range ids {
		one.completes(id)
	}

	require.Equal(t, together, query[int](h, `SELECT max(together) FROM peaks`))
	require.Equal(t, perServer, query[int](h, `SELECT max(server) FROM peaks`))
	require.Equal(t, 2, query[int](h, `SELECT count(DISTINCT pod_id) FROM sessions`), "both servers worked")
}

func TestQueuedSessionsAreCancelledWhileEveryWorkerIsBusy(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.fakeClock() // so that no renewal masks a lost signal

	gate := script.NewGate()
	h.forAgent("investigator", script.Reply{Text: "found", Gate: gate})
	h.summary(script.Reply{Text: "short"})

	s := h.start("one", func(c *Config) { c.Workers, c.MaxSessions = 1, 1 })
	busy := s.submit()
	h.wait(gate.Reached(), "the first session to be busy")

	var waiting []string
	for range maxCancels + 5 {
		waiting = append(waiting, s.submit())
	}

	// More sessions than a server cancels concurrently, and one signal for all of them.
	h.exec(`UPDATE sessions SET open_requests = 1 WHERE id <> $1`, busy)
	h.exec(`INSERT INTO requests (id, session_id, kind, status, author, created_at)
SELECT gen_random_uuid(), id, 'cancel', 'open', 'somebody', created_at FROM sessions WHERE id <> $1`, busy)
	wake(s.cancels)

	for _, id := range waiting {
		require.Equal(t, []string{"pending", "cancelling", "cancelled"}, s.ended(id))
		require.Empty(t, s.detail(id).Stages)
	}

	require.Equal(t, tarsy.SessionInProgress, s.detail(busy).Status)
	gate.Open()
	s.completes(busy)
	require.Len(t, h.model.Calls(), 2, "no cancelled session reached the model")
}

func TestRenewalDetectsCancellationAfterLostSignal(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ cancelBusy bool }{
		"of a running session":                     {true},
		"of a waiting one while no worker is free": {false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			h := newFixture(t)
			clock := h.fakeClock()
			gate := script.NewGate()
			h.forAgent("investigator", script.Reply{Text: "found", Gate: gate})
			h.summary(script.Reply{Text: "short"})

			s := h.start("one", func(c *Config) { c.Workers = 1 })
			busy := s.submit()
			h.wait(gate.Reached(), "the session to be busy")

			id := busy
			if !test.cancelBusy {
				id = s.submit()
			}

			// Written by a server whose NOTIFY was lost.
			h.exec(`WITH asked AS (UPDATE sessions SET open_requests = 1 WHERE id = $1)
INSERT INTO requests (id, session_id, kind, status, author, created_at) VALUES ($2, $1, 'cancel', 'open', 'x', $3)`, id, ident.New(), clock.Now())
			clock.Advance(s.RenewEvery)
			require.Contains(t, s.ended(id), "cancelled")
			gate.Open()
		})
	}
}

func TestRequestBetweenClaimAndWorkIsHandled(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.fakeClock() // so that no renewal masks a lost signal

	gate := script.NewGate()
	h.forAgent("investigator", script.Reply{Text: "found", Gate: gate})
	h.summary(script.Reply{Text: "short"})

	s := h.open("one", nil)
	id := s.submit()
	claims, err := s.DB.Claim(h.ctx, claimParams(s))
	require.NoError(t, err)
	require.Len(t, claims, 1)

	// When the request arrives, this server has claimed and loaded the session, but cannot deliver the request to it yet.
	s.cancel(id)
	wake(s.requests)
	s.work(claims[0], nil, s.settings.Load())
	s.Start()
	require.Contains(t, s.ended(id), "cancelled")
}
