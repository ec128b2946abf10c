package review_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/note/review"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/notebook"
)

var patience = slowness.Scale(20 * time.Second)

// fixture is a review service with its own database.
type fixture struct {
	*review.Service

	db    *store.DB
	clock *clockwork.FakeClock
}

func newFixture(t *testing.T) *fixture {
	t.Helper()

	pool, err := pgxpool.New(t.Context(), pgtest.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	clock := clockwork.NewFakeClockAt(time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC))

	db, err := store.Open(t.Context(), store.Config{Write: pool, Read: pool, Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	mask := func(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }

	return &fixture{Service: review.New(review.Config{Store: db, Mask: mask}), db: db, clock: clock}
}

// change runs a transaction directly on the store.
func (f *fixture) change(t require.TestingT, change func(ctx context.Context, tx *store.Tx) error) {
	ctx := context.Background()

	require.NoError(t, f.db.Change(ctx, func(tx *store.Tx) error { return change(ctx, tx) }))
}

func (f *fixture) note(t require.TestingT, content string) notebook.Note {
	note := notebook.Note{
		ID: ident.New(), Content: content, Source: notebook.NoteFromCLI, Author: "ana", Status: notebook.NoteDone, Version: 1, CreatedAt: f.db.Now(),
		UpdatedAt: f.db.Now(),
	}
	f.change(t, func(ctx context.Context, tx *store.Tx) error { return store.InsertNote(ctx, tx, note, nil) })

	return note
}

// entity stores a proposed entity and its note.
func (f *fixture) entity(t require.TestingT, title string, tags ...string) notebook.EntityDetail {
	note := f.note(t, title)
	confidence := 0.5
	entity := notebook.EntityDetail{
		Entity: notebook.Entity{
			ID: ident.New(), NoteID: &note.ID, NoteVersion: 1, Type: notebook.EntityTask, Title: title, Status: notebook.EntityOpen, State: notebook.EntityProposed,
			Confidence: &confidence, CreatedBy: "tarsy", CreatedAt: f.db.Now(), UpdatedAt: f.db.Now(), Version: 1,
		},
		Tags: tags,
	}
	entity.Sources = []notebook.EntitySource{{EntityID: entity.ID, NoteID: note.ID, Quote: title, StartOffset: 0, EndOffset: len(title)}}
	f.change(t, func(ctx context.Context, tx *store.Tx) error {
		store.InsertEntity(tx, entity)

		return nil
	})

	return entity
}

func (f *fixture) project(t require.TestingT, name string) string {
	id := ident.New()
	f.change(t, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO projects (id, name, created_by, created_at, updated_at) VALUES ($1, $2, 'ana', $3, $3)`, id, name, tx.Now)

		return err
	})

	return id
}

func (f *fixture) epic(t require.TestingT, projectID, name string) string {
	id := ident.New()
	f.change(t, func(ctx context.Context, tx *store.Tx) error {
		return store.InsertEpic(ctx, tx, notebook.Epic{
			ID: id, ProjectID: projectID, Name: name, Status: notebook.EpicOpen, CreatedBy: "ana", CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
		})
	})

	return id
}

// item stores an open review item about an entity.
func (f *fixture) item(t require.TestingT, kind notebook.ReviewKind, entity notebook.EntityDetail, proposal notebook.Proposal) notebook.ReviewItem {
	item := notebook.ReviewItem{
		ID: ident.New(), Kind: kind, Status: notebook.ReviewOpen, NoteID: entity.NoteID, EntityID: &entity.ID, Proposal: proposal, Reason: "looks so",
		CreatedAt: f.db.Now(), Version: 1,
	}
	f.change(t, func(ctx context.Context, tx *store.Tx) error {
		store.InsertReviewItem(tx, item)

		return nil
	})

	return item
}

// epicItem stores an open review item about a new epic.
func (f *fixture) epicItem(t require.TestingT, projectID, name string, entities ...notebook.EntityDetail) notebook.ReviewItem {
	item := notebook.ReviewItem{
		ID: ident.New(), Kind: notebook.ReviewEpic, Status: notebook.ReviewOpen, ProjectID: &projectID, Reason: "three of a kind", CreatedAt: f.db.Now(), Version: 1,
		Proposal: notebook.Proposal{EpicName: name, EpicDescription: "About " + name},
	}
	for _, entity := range entities {
		item.NoteID = entity.NoteID
		item.Proposal.EntityIDs = append(item.Proposal.EntityIDs, entity.ID)
	}

	f.change(t, func(ctx context.Context, tx *store.Tx) error {
		store.InsertReviewItem(tx, item)

		return nil
	})

	return item
}

// exec runs a statement, bypassing the service.
func (f *fixture) exec(t require.TestingT, sql string, args ...any) {
	f.change(t, func(ctx context.Context, tx *store.Tx) error {
		_, err := tx.Exec(ctx, sql, args...)

		return err
	})
}

// resolve decides an item as bea, at its current version unless in sets one.
func (f *fixture) resolve(t *testing.T, item notebook.ReviewItem, in notebook.ReviewResolution) (notebook.ReviewDetail, error) {
	t.Helper()

	in.ItemID, in.Author = item.ID, "bea"
	if in.Version == 0 {
		in.Version = f.version(t, item.ID)
	}

	return f.Resolve(t.Context(), in)
}

// decide is resolve, which must succeed.
func (f *fixture) decide(t *testing.T, item notebook.ReviewItem, decision notebook.Decision) notebook.ReviewDetail {
	t.Helper()

	detail, err := f.resolve(t, item, notebook.ReviewResolution{Decision: decision})
	require.NoError(t, err)

	return detail
}

func (f *fixture) version(t require.TestingT, itemID string) int64 {
	found, err := f.Item(context.Background(), itemID)
	require.NoError(t, err)

	return found.Version
}

func (f *fixture) status(t *testing.T, item notebook.ReviewItem) notebook.ReviewStatus {
	t.Helper()

	found, err := f.Item(t.Context(), item.ID)
	require.NoError(t, err)

	return found.Status
}

// stored reads an entity.
func (f *fixture) stored(t *testing.T, id string) notebook.EntityDetail {
	t.Helper()

	found, err := store.Entity(t.Context(), f.db.Reader(), id)
	require.NoError(t, err)

	return found
}

// events returns the payloads of the journal up to the nth event of a type.
func (f *fixture) events(t *testing.T, eventType string, n int) []notebook.NotePayload {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var payloads []notebook.NotePayload

	for record, err := range f.db.Journal().Tail(ctx, journal.Position(0)) {
		require.NoError(t, err)

		payload := payloadOf(t, record.Entry)
		payloads = append(payloads, payload)

		if payload.Type == eventType {
			if n--; n == 0 {
				break
			}
		}
	}

	return payloads
}

func payloadOf(t *testing.T, event tarsy.Event) notebook.NotePayload {
	t.Helper()

	var payload notebook.NotePayload

	require.NoError(t, json.Unmarshal(event.Payload, &payload))

	return payload
}

// requireError checks the code and the field of an error, and that its message contains text.
func requireError(t *testing.T, err error, code tarsy.Code, field, text string) {
	t.Helper()

	var problem *tarsy.Error

	require.ErrorAs(t, err, &problem)
	require.Equal(t, code, problem.Code, problem.Message)
	require.Equal(t, field, problem.Field, problem.Message)
	require.Contains(t, problem.Message, text)
}
