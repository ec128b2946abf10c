package engine

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
)

// asideWatch records which sessions an engine reported as set aside.
type asideWatch struct {
	mu    sync.Mutex
	aside map[string]bool
}

func (w *asideWatch) note(sessionID string, aside bool) {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.aside[sessionID] = aside
}

func (w *asideWatch) is(sessionID string, aside bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()

	got, known := w.aside[sessionID]

	return known && got == aside
}

func TestUnloadableSessionsAreSetAsideAndOthersRun(t *testing.T) {
	t.Parallel()

	h := newFixture(t)
	h.investigate()

	watch := &asideWatch{aside: map[string]bool{}}
	s := h.open("one", func(c *Config) { c.SetAside = watch.note })

	// One cannot be read when it is claimed, another when its rows are loaded.
	badRow, badRows, good, worked := s.submit(), s.submit(), s.submit(), s.submit()
	h.exec(`UPDATE sessions SET mcp_selection = '{"servers": 5}' WHERE id = $1`, badRow)
	h.exec(`UPDATE sessions SET fence = 1 WHERE id = ANY ($1)`, []string{badRows, worked})
	h.exec(`INSERT INTO timeline_events (id, session_id, sequence_number, event_type, status, content, metadata, created_at, updated_at)
VALUES (gen_random_uuid(), $1, 1, 'llm_response', 'completed', '', '5', now(), 'infinity')`, badRows)

	s.Start()
	s.completes(good)
	s.completes(worked)

	for _, id := range []string{badRow, badRows} {
		wait.Until(t, "the session to be set aside", func() bool {
			return watch.is(id, true) && query[bool](h, `SELECT lease_until IS NULL AND status = 'pending' AND runnable_at > now() + interval '10 seconds'
FROM sessions WHERE id = $1`, id)
		})
	}

	require.Zero(t, s.Running(), "it keeps no worker")

	h.exec(`UPDATE sessions SET mcp_selection = NULL, runnable_at = created_at WHERE id = $1`, badRow)
	h.exec(`DELETE FROM timeline_events WHERE session_id = $1`, badRows)
	h.exec(`UPDATE sessions SET runnable_at = created_at WHERE id = $1`, badRows)

	for _, id := range []string{badRow, badRows} {
		s.completes(id)
		require.True(t, watch.is(id, false))
	}
}

func TestSetAsidePauseGrowsToLimit(t *testing.T) {
	t.Parallel()

	var s setAside

	require.Equal(t, 30*time.Second, s.add("a"))
	require.Equal(t, time.Minute, s.add("a"))
	require.Equal(t, 30*time.Second, s.add("b"))

	for range 100 {
		require.LessOrEqual(t, s.add("a"), 10*time.Minute)
	}

	require.Equal(t, 10*time.Minute, s.add("a"))
	require.True(t, s.remove("a"))
	require.False(t, s.remove("a"))
	require.Equal(t, 30*time.Second, s.add("a"))
}
