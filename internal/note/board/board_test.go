package board_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/note/board"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/notebook"
)

var patience = slowness.Scale(20 * time.Second)

// fixture is a board with its own database. It masks hunter2 as a secret.
type fixture struct {
	*board.Service

	pool  *pgxpool.Pool
	rows  *store.DB
	clock *clockwork.FakeClock
}

func newFixture(t *testing.T) *fixture {
	t.Helper()

	pool, err := pgxpool.New(t.Context(), pgtest.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	clock := clockwork.NewFakeClockAt(time.Date(2026, 11, 15, 10, 0, 0, 123456000, time.UTC))

	rows, err := store.Open(t.Context(), store.Config{Write: pool, Read: pool, Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })

	return &fixture{
		Service: board.New(board.Config{Store: rows, Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[MASKED]") }}),
		pool:    pool, rows: rows, clock: clock,
	}
}

// task creates a task, one second after the previous one.
func (f *fixture) task(t *testing.T, title string, change ...func(*notebook.EntityInput)) notebook.EntityDetail {
	t.Helper()

	in := notebook.EntityInput{Type: new(notebook.EntityTask), Title: &title}
	for _, c := range change {
		c(&in)
	}

	f.clock.Advance(time.Second)

	entity, err := f.CreateEntity(t.Context(), in, "ana")
	require.NoError(t, err)

	return entity
}

func (f *fixture) project(t *testing.T, name string) notebook.ProjectDetail {
	t.Helper()

	project, err := f.CreateProject(t.Context(), notebook.ProjectInput{Name: &name}, "ana")
	require.NoError(t, err)

	return project
}

func (f *fixture) epic(t *testing.T, projectID, name string) notebook.Epic {
	t.Helper()

	epic, err := f.CreateEpic(t.Context(), projectID, notebook.EpicInput{Name: &name}, "ana")
	require.NoError(t, err)

	return epic
}

// change runs a transaction directly on the store.
func (f *fixture) change(t *testing.T, change func(*store.Tx) error) {
	t.Helper()
	require.NoError(t, f.rows.Change(t.Context(), change))
}

// titles lists the titles of all entities that a query finds, page by page.
func (f *fixture) titles(t *testing.T, q notebook.EntityQuery) []string {
	t.Helper()

	titles := []string{}

	for q.Limit = max(q.Limit, 1); ; {
		page, err := f.Entities(t.Context(), q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Entities), q.Limit)

		for _, e := range page.Entities {
			titles = append(titles, e.Title)
		}

		if page.Next == nil {
			require.Len(t, titles, page.Total)

			return titles
		}

		q.After = page.Next
	}
}

// column lists the titles in a column of the board.
func (f *fixture) column(t *testing.T, status notebook.EntityStatus) []string {
	t.Helper()

	return f.titles(t, notebook.EntityQuery{Board: true, Statuses: []notebook.EntityStatus{status}, Limit: 200})
}

// events returns the first n events of the journal.
func (f *fixture) events(t *testing.T, n int) []notebook.NotePayload {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var payloads []notebook.NotePayload

	for record, err := range f.rows.Journal().Tail(ctx, journal.Position(0)) {
		require.NoError(t, err)

		var payload notebook.NotePayload

		require.NoError(t, json.Unmarshal(record.Entry.Payload, &payload))

		if payloads = append(payloads, payload); len(payloads) == n {
			break
		}
	}

	return payloads
}
