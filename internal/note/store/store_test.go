package store_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/notebook"
)

var patience = slowness.Scale(20 * time.Second)

func open(t *testing.T) *store.DB {
	t.Helper()

	pool, err := pgxpool.New(t.Context(), pgtest.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	db, err := store.Open(t.Context(), store.Config{Write: pool, Read: pool})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	return db
}

// sample returns a note with an entity, as they are stored.
func sample(now time.Time) (notebook.Note, notebook.EntityDetail) {
	note := notebook.Note{
		ID: ident.New(), Content: "Fix the login bug on Safari by Friday.", Source: notebook.NoteFromCLI, Author: "ana", Status: notebook.NoteQueued, Version: 1,
		CreatedAt: now, UpdatedAt: now,
	}
	due := calendar.DateOf(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC))
	confidence := 0.9
	entity := notebook.EntityDetail{
		Entity: notebook.Entity{
			ID: ident.New(), NoteID: &note.ID, NoteVersion: 1, Type: notebook.EntityTask, Title: "Fix login bug", Status: notebook.EntityOpen,
			State: notebook.EntityAccepted, DueOn: &due, Confidence: &confidence, CreatedBy: "tarsy", CreatedAt: now, UpdatedAt: now, Version: 1,
			Position: store.PositionAt(now),
		},
		Tags: []string{"login", "safari"},
	}
	entity.Sources = []notebook.EntitySource{{EntityID: entity.ID, NoteID: note.ID, Quote: "Fix the login bug", StartOffset: 0, EndOffset: 17}}

	return note, entity
}

func TestChangeStoresRowsAndEventsTogether(t *testing.T) {
	t.Parallel()

	db := open(t)
	note, entity := sample(db.Now())

	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, note, nil))
		store.InsertEntity(tx, entity)
		tx.Emit(notebook.NotePayload{Type: notebook.TypeNoteCaptured, NoteID: note.ID})
		tx.Emit(store.EntityEvent(notebook.TypeEntityCreated, entity.Entity, ""))

		return nil
	}))

	stored, err := store.Note(t.Context(), db.Reader(), note.ID)
	require.NoError(t, err)
	require.Equal(t, note, utc(stored))

	found, err := store.Entity(t.Context(), db.Reader(), entity.ID)
	require.NoError(t, err)

	found.CreatedAt, found.UpdatedAt = found.CreatedAt.UTC(), found.UpdatedAt.UTC()
	require.Equal(t, entity, found)

	require.Equal(t, []string{notebook.TypeNoteCaptured, notebook.TypeEntityCreated}, events(t, db, 2))
}

func TestChangeThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()

	db := open(t)
	note, _ := sample(db.Now())
	failure := errors.New("failed on purpose")

	err := db.Change(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, note, nil))
		tx.Emit(notebook.NotePayload{Type: notebook.TypeNoteCaptured, NoteID: note.ID})

		return failure
	})
	require.ErrorIs(t, err, failure)

	_, err = store.Note(t.Context(), db.Reader(), note.ID)
	require.Equal(t, tarsy.CodeNoteNotFound, tarsy.CodeOf(err))

	// The next event is the first one.
	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		tx.Emit(notebook.NotePayload{Type: notebook.TypeTagChanged, Tag: "login"})

		return nil
	}))
	require.Equal(t, []string{notebook.TypeTagChanged}, events(t, db, 1))
}

func TestOldEventsAreTrimmed(t *testing.T) {
	t.Parallel()

	pool, err := pgxpool.New(t.Context(), pgtest.New(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	clock := clockwork.NewFakeClockAt(time.Date(2026, 11, 16, 9, 0, 0, 0, time.UTC))
	db, err := store.Open(t.Context(), store.Config{Write: pool, Read: pool, Clock: clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	for _, tag := range []string{"one", "two", "three"} {
		require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
			tx.Emit(notebook.NotePayload{Type: notebook.TypeTagChanged, Tag: tag})

			return nil
		}))
		clock.Advance(time.Hour)
	}

	events(t, db, 3) // they are numbered

	trimmed, err := db.Trim(t.Context(), clock.Now().Add(-90*time.Minute))
	require.NoError(t, err)
	require.Equal(t, 2, trimmed)

	var left int

	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM pgjournal_entries`).Scan(&left))
	require.Equal(t, 1, left)

	for _, want := range []int{1, 0} {
		trimmed, err = db.Trim(t.Context(), clock.Now())
		require.NoError(t, err)
		require.Equal(t, want, trimmed)
	}
}

func TestUpdatingEntityRaisesItsVersion(t *testing.T) {
	t.Parallel()

	db := open(t)
	note, entity := sample(db.Now())

	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, note, nil))
		store.InsertEntity(tx, entity)

		locked, err := store.LockEntity(t.Context(), tx, entity.ID)
		require.NoError(t, err)

		locked.Title, locked.DueOn = "Fix the login", nil
		store.UpdateEntity(tx, locked.Entity)

		store.SetTags(tx, entity.ID, []string{"web"})

		return nil
	}))

	found, err := store.Entity(t.Context(), db.Reader(), entity.ID)
	require.NoError(t, err)
	require.Equal(t, int64(2), found.Version)
	require.Equal(t, "Fix the login", found.Title)
	require.Nil(t, found.DueOn)
	require.Equal(t, []string{"web"}, found.Tags)
}

func TestReviewItemIsStoredResolvedAndReopened(t *testing.T) {
	t.Parallel()

	db := open(t)
	note, entity := sample(db.Now())
	score := 0.75
	item := notebook.ReviewItem{
		ID: ident.New(), Kind: notebook.ReviewDuplicate, Status: notebook.ReviewOpen, NoteID: &note.ID, EntityID: &entity.ID,
		Proposal: notebook.Proposal{DuplicateOf: ident.New()}, Reason: "same bug", Score: &score, CreatedAt: db.Now(), Version: 1,
	}

	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, note, nil))
		store.InsertEntity(tx, entity)

		store.InsertReviewItem(tx, item)

		return nil
	}))
	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		return store.CloseReviewItems(t.Context(), tx, `r.entity_id = $1`, entity.ID)
	}))

	var closed notebook.ReviewItem

	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) (err error) {
		closed, err = store.LockReviewItem(t.Context(), tx, item.ID)
		require.NoError(t, err)
		require.Equal(t, notebook.ReviewObsolete, closed.Status)
		require.Equal(t, item.Proposal, closed.Proposal)

		_, err = store.ResolveReviewItem(t.Context(), tx, closed, notebook.ReviewOpen, "")

		return err
	}))

	items, err := store.ReviewItems(t.Context(), db.Reader(), `WHERE r.status = 'open'`)
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Equal(t, int64(3), items[0].Version)
	require.Equal(t, []string{notebook.TypeReviewCreated, notebook.TypeReviewResolved}, events(t, db, 2))
}

// Two changes lock the same two rows in opposite orders, and each locks its second row only after the other has locked its first.
func TestDeadlockedChangesAreRetried(t *testing.T) {
	t.Parallel()

	db := open(t)
	first, _ := sample(db.Now())
	second, _ := sample(db.Now())

	require.NoError(t, db.Change(t.Context(), func(tx *store.Tx) error {
		require.NoError(t, store.InsertNote(t.Context(), tx, first, nil))

		return store.InsertNote(t.Context(), tx, second, nil)
	}))

	var (
		group  errgroup.Group
		runs   atomic.Int64
		locked sync.WaitGroup
	)

	locked.Add(2)

	for _, order := range [][]string{{first.ID, second.ID}, {second.ID, first.ID}} {
		var once sync.Once

		group.Go(func() error {
			return db.Change(t.Context(), func(tx *store.Tx) error {
				runs.Add(1)

				if _, err := store.LockNote(t.Context(), tx, order[0]); err != nil {
					return err
				}

				once.Do(func() {
					locked.Done()
					locked.Wait()
				})

				note, err := store.LockNote(t.Context(), tx, order[1])
				if err != nil {
					return err
				}

				note.Version++

				store.UpdateNote(tx, note)

				return nil
			})
		})
	}

	require.NoError(t, group.Wait())
	// PostgreSQL aborts one of them, or both if both detect the deadlock at the same moment.
	require.GreaterOrEqual(t, runs.Load(), int64(3))

	for _, id := range []string{first.ID, second.ID} {
		note, err := store.Note(t.Context(), db.Reader(), id)
		require.NoError(t, err)
		require.EqualValues(t, 2, note.Version)
	}
}

func TestTagsAreCleaned(t *testing.T) {
	t.Parallel()

	tags, err := store.CleanTags([]string{" Web  UI ", "login", "", "LOGIN"})
	require.NoError(t, err)
	require.Equal(t, []string{"login", "web ui"}, tags)

	_, err = store.CleanTags([]string{longTag})
	require.Equal(t, tarsy.CodeInvalidField, tarsy.CodeOf(err))
}

const longTag = "a tag that is much longer than any tag of an entity may be"

// events returns the types of the first n events of the journal.
func events(t *testing.T, db *store.DB, n int) []string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()

	var types []string

	for record, err := range db.Journal().Tail(ctx, journal.Position(0)) {
		require.NoError(t, err)

		if types = append(types, record.Entry.Type); len(types) == n {
			break
		}
	}

	return types
}

func utc(n notebook.Note) notebook.Note {
	n.CreatedAt, n.UpdatedAt = n.CreatedAt.UTC(), n.UpdatedAt.UTC()

	return n
}
