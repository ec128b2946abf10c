package review_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

func TestUndoRestoresRowsAndReopensItems(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.entity(t, "Rotate the keys", "keys")
	item := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
	assignment := f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: f.project(t, "Security")})

	f.decide(t, item, notebook.DecisionReject)
	f.clock.Advance(notebook.UndoPeriod)

	detail, err := f.Undo(t.Context(), item.ID, "cy")
	require.NoError(t, err)
	require.Equal(t, notebook.ReviewOpen, detail.Status)
	require.Nil(t, detail.ResolvedAt)
	require.Empty(t, detail.ResolvedBy)
	require.Equal(t, notebook.EntityProposed, detail.Entity.State)
	require.Empty(t, detail.Entity.EditedBy)
	require.Equal(t, int64(3), detail.Entity.Version)
	require.Equal(t, notebook.ReviewOpen, f.status(t, assignment))

	require.Len(t, detail.Decisions, 1)
	require.Equal(t, "cy", detail.Decisions[0].UndoneBy)
	require.Equal(t, f.db.Now(), detail.Decisions[0].UndoneAt.UTC())

	reopened := map[string]string{}

	for _, e := range f.events(t, notebook.TypeReviewReopened, 2) {
		if e.Type == notebook.TypeReviewReopened {
			reopened[e.ReviewID] = e.Author
		}
	}

	require.Equal(t, map[string]string{item.ID: "cy", assignment.ID: "cy"}, reopened)

	// It can be decided again, and then that decision can be undone.
	f.decide(t, item, notebook.DecisionAccept)

	detail, err = f.Undo(t.Context(), item.ID, "cy")
	require.NoError(t, err)
	require.Len(t, detail.Decisions, 2)
	require.NotNil(t, detail.Decisions[1].UndoneAt)
}

func TestUndoOfMergeSeparatesEntities(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b, c := f.entity(t, "A", "a"), f.entity(t, "B", "b"), f.entity(t, "C", "c")
	first := f.item(t, notebook.ReviewDuplicate, a, notebook.Proposal{DuplicateOf: b.ID})
	second := f.item(t, notebook.ReviewDuplicate, b, notebook.Proposal{DuplicateOf: c.ID})

	f.decide(t, first, notebook.DecisionMerge)
	f.decide(t, second, notebook.DecisionMerge)

	_, err := f.Undo(t.Context(), first.ID, "cy")
	requireError(t, err, tarsy.CodeUndoConflict, "", `the entity "A" was changed since`)
	require.ErrorContains(t, err, `the entity "B" was changed since`)

	_, err = f.Undo(t.Context(), second.ID, "cy")
	require.NoError(t, err)
	require.Equal(t, &b.ID, f.stored(t, a.ID).MergedInto)
	require.Equal(t, c.Tags, f.stored(t, c.ID).Tags)
	require.Equal(t, c.Sources, f.stored(t, c.ID).Sources)
	require.Equal(t, []string{"a", "b"}, f.stored(t, b.ID).Tags)
	require.Equal(t, notebook.EntityProposed, f.stored(t, b.ID).State)
}

func TestUndoRemovesEpicUnlessItIsUsed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	entity, later := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate more keys")
	item := f.epicItem(t, project, "Keys", entity)

	f.decide(t, item, notebook.DecisionAccept)
	epic := *f.stored(t, entity.ID).EpicID
	f.exec(t, `UPDATE entities SET project_id = $2, epic_id = $3 WHERE id = $1`, later.ID, project, epic)

	_, err := f.Undo(t.Context(), item.ID, "cy")
	requireError(t, err, tarsy.CodeUndoConflict, "", `other entities were filed under the epic "Keys"`)

	f.exec(t, `UPDATE entities SET project_id = NULL, epic_id = NULL WHERE id = $1`, later.ID)
	f.exec(t, `UPDATE epics SET version = 2 WHERE id = $1`, epic)

	_, err = f.Undo(t.Context(), item.ID, "cy")
	requireError(t, err, tarsy.CodeUndoConflict, "", `the epic "Keys" was changed since`)

	f.exec(t, `UPDATE epics SET version = 1 WHERE id = $1`, epic)

	_, err = f.Undo(t.Context(), item.ID, "cy")
	require.NoError(t, err)
	require.Nil(t, f.stored(t, entity.ID).EpicID)
	require.Nil(t, f.stored(t, entity.ID).ProjectID)

	epics, err := store.Epics(t.Context(), f.db.Reader(), `WHERE e.project_id = $1`, project)
	require.NoError(t, err)
	require.Empty(t, epics)

	events := f.events(t, notebook.TypeEpicChanged, 2)
	require.Equal(t, "deleted", events[len(events)-1].Status)
}

func TestUndoKeepsEpicThatExistedBefore(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	entity := f.entity(t, "Rotate the keys")
	item := f.epicItem(t, project, "Keys", entity)
	epic := f.epic(t, project, "keys")

	f.decide(t, item, notebook.DecisionAccept)
	require.Equal(t, &epic, f.stored(t, entity.ID).EpicID)

	_, err := f.Undo(t.Context(), item.ID, "cy")
	require.NoError(t, err)
	require.Nil(t, f.stored(t, entity.ID).EpicID)

	epics, err := store.Epics(t.Context(), f.db.Reader(), `WHERE e.id = $1`, epic)
	require.NoError(t, err)
	require.Len(t, epics, 1)
}

func TestUndoIsRefusedAfterChangesAndAfterAnHour(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")

	for _, c := range []struct {
		says   string
		change func(entity notebook.EntityDetail, closed notebook.ReviewItem)
	}{
		{`the entity "Rotate" was changed since`, func(e notebook.EntityDetail, _ notebook.ReviewItem) {
			f.exec(t, `UPDATE entities SET version = version + 1 WHERE id = $1`, e.ID)
		}},
		{`the entity "Rotate" was changed since`, func(e notebook.EntityDetail, _ notebook.ReviewItem) {
			f.exec(t, `DELETE FROM entity_tags WHERE entity_id = $1`, e.ID)
		}},
		{"the review item", func(_ notebook.EntityDetail, closed notebook.ReviewItem) {
			f.exec(t, `DELETE FROM review_items WHERE id = $1`, closed.ID)
		}},
		{"project that an entity was filed under was deleted", func(notebook.EntityDetail, notebook.ReviewItem) {
			f.exec(t, `DELETE FROM projects WHERE id = $1`, project)
			project = f.project(t, "Security")
		}},
	} {
		entity := f.entity(t, "Rotate", "keys")
		f.exec(t, `UPDATE entities SET project_id = $2 WHERE id = $1`, entity.ID, project)
		item := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
		closed := f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: project})

		f.decide(t, item, notebook.DecisionReject)
		c.change(entity, closed)

		_, err := f.Undo(t.Context(), item.ID, "cy")
		requireError(t, err, tarsy.CodeUndoConflict, "", c.says)
		require.Equal(t, notebook.ReviewRejected, f.status(t, item))
		require.Equal(t, notebook.EntityRejected, f.stored(t, entity.ID).State)
	}

	item := f.item(t, notebook.ReviewEntity, f.entity(t, "Late"), notebook.Proposal{})
	f.decide(t, item, notebook.DecisionAccept)
	f.clock.Advance(notebook.UndoPeriod + time.Microsecond)

	_, err := f.Undo(t.Context(), item.ID, "cy")
	requireError(t, err, tarsy.CodeUndoExpired, "", "2026-11-16T09:00:00Z")
}

func TestUndoNeedsDecision(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
	other := f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: f.project(t, "Security")})

	_, err := f.Undo(t.Context(), item.ID, "cy")
	requireError(t, err, tarsy.CodeUndoConflict, "", "nothing to undo")

	f.decide(t, item, notebook.DecisionReject)

	_, err = f.Undo(t.Context(), other.ID, "cy")
	requireError(t, err, tarsy.CodeUndoConflict, "", "became obsolete")

	_, err = f.Undo(t.Context(), ident.New(), "cy")
	requireError(t, err, tarsy.CodeReviewNotFound, "", "no review item")
}

func TestOneOfManyConcurrentUndosWins(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	item := f.item(t, notebook.ReviewEntity, f.entity(t, "Rotate the keys"), notebook.Proposal{})
	f.decide(t, item, notebook.DecisionAccept)

	var (
		group sync.WaitGroup
		errs  = make(chan error, 10)
		won   int
	)

	for range cap(errs) {
		group.Go(func() {
			_, err := f.Undo(t.Context(), item.ID, "cy")
			errs <- err
		})
	}

	group.Wait()
	close(errs)

	for err := range errs {
		if err == nil {
			won++
		} else {
			require.Equal(t, tarsy.CodeUndoConflict, tarsy.CodeOf(err), err)
		}
	}

	require.Equal(t, 1, won)
}

func TestUndoOpensNoItemOfEntityThatDoesNotCount(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, similar := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	item := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
	other := f.item(t, notebook.ReviewEntity, similar, notebook.Proposal{})
	duplicate := f.item(t, notebook.ReviewDuplicate, similar, notebook.Proposal{DuplicateOf: entity.ID})
	assignment := f.item(t, notebook.ReviewAssignment, similar, notebook.Proposal{AssignProjectID: f.project(t, "Security")})

	f.decide(t, assignment, notebook.DecisionReject)
	f.decide(t, item, notebook.DecisionReject)
	f.decide(t, other, notebook.DecisionReject)

	_, err := f.Undo(t.Context(), assignment.ID, "cy")
	requireError(t, err, tarsy.CodeUndoConflict, "", `the entity "Rotate keys" was rejected since`)

	_, err = f.Undo(t.Context(), item.ID, "cy")
	require.NoError(t, err)
	require.Equal(t, notebook.ReviewObsolete, f.status(t, duplicate))
}
