package review_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

func TestAcceptedEntityCountsAndRecordsWhoAndWhen(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})

	detail, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionAccept, Reason: " sure, hunter2\x00 "})
	require.NoError(t, err)
	require.Equal(t, notebook.ReviewAccepted, detail.Status)
	require.Equal(t, "bea", detail.ResolvedBy)
	require.Equal(t, f.db.Now(), detail.ResolvedAt.UTC())
	require.Equal(t, int64(2), detail.Version)
	require.Equal(t, notebook.EntityAccepted, detail.Entity.State)
	require.Equal(t, "bea", detail.Entity.EditedBy)
	require.Equal(t, entity.Title, detail.Note.Content)

	require.Len(t, detail.Decisions, 1)
	require.Equal(t, notebook.DecisionAccept, detail.Decisions[0].Decision)
	require.Equal(t, "bea", detail.Decisions[0].Author)
	require.Equal(t, "sure, ***", detail.Decisions[0].Reason)
	require.Equal(t, f.db.Now(), detail.Decisions[0].DecidedAt.UTC())
	require.Nil(t, detail.Decisions[0].UndoneAt)

	events := f.events(t, notebook.TypeReviewResolved, 1)
	require.Equal(t, []string{notebook.TypeReviewCreated, notebook.TypeEntityUpdated, notebook.TypeReviewResolved}, types(events))
	require.Equal(t, notebook.NotePayload{
		Type: notebook.TypeReviewResolved, ReviewID: item.ID, EntityID: entity.ID, NoteID: *entity.NoteID, Status: "accepted", Author: "bea",
		Timestamp: f.db.Now(),
	}, events[2])
}

func types(events []notebook.NotePayload) []string {
	all := make([]string, len(events))
	for i, e := range events {
		all[i] = e.Type
	}

	return all
}

func TestEditedEntityIsChangedMaskedAndAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	item := f.item(t, notebook.ReviewEntity, f.entity(t, "Rotate the keys", "keys"), notebook.Proposal{})

	_, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: &notebook.EntityInput{Title: new("")}})
	requireError(t, err, tarsy.CodeInvalidField, "entity.title", "empty")
	require.Equal(t, notebook.ReviewOpen, f.status(t, item))

	detail, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: &notebook.EntityInput{
		Title: new("Rotate hunter2"), Tags: new([]string{"Urgent"}), ProjectID: &project,
	}})
	require.NoError(t, err)
	require.Equal(t, notebook.ReviewEdited, detail.Status)
	require.Equal(t, "Rotate ***", detail.Entity.Title)
	require.Equal(t, []string{"urgent"}, detail.Entity.Tags)
	require.Equal(t, &project, detail.Entity.ProjectID)
	require.Equal(t, notebook.EntityAccepted, detail.Entity.State)
	require.Len(t, detail.Projects, 1)
}

func TestRejectingEntityMakesItsOtherItemsObsolete(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, similar := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	item := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
	assignment := f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: f.project(t, "Security")})
	duplicate := f.item(t, notebook.ReviewDuplicate, similar, notebook.Proposal{DuplicateOf: entity.ID})
	unrelated := f.item(t, notebook.ReviewEntity, similar, notebook.Proposal{})

	detail := f.decide(t, item, notebook.DecisionReject)
	require.Equal(t, notebook.ReviewRejected, detail.Status)
	require.Equal(t, notebook.EntityRejected, detail.Entity.State)
	require.Equal(t, notebook.ReviewObsolete, f.status(t, assignment))
	require.Equal(t, notebook.ReviewObsolete, f.status(t, duplicate))
	require.Equal(t, notebook.ReviewOpen, f.status(t, unrelated))

	_, err := f.resolve(t, assignment, notebook.ReviewResolution{Decision: notebook.DecisionAccept})
	requireError(t, err, tarsy.CodeReviewResolved, "", "no decision any more")
}

func TestAcceptedAssignmentFilesEntity(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	epic := f.epic(t, project, "Keys")
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: project, AssignEpicID: epic})

	detail := f.decide(t, item, notebook.DecisionAccept)
	require.Equal(t, []*string{&project, &epic}, []*string{detail.Entity.ProjectID, detail.Entity.EpicID})
	require.Equal(t, "bea", detail.Entity.EditedBy)
	require.Equal(t, notebook.EntityProposed, detail.Entity.State)
	require.Len(t, detail.Epics, 1)
}

func TestEditedAssignmentFilesEntityElsewhere(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	gone, other := f.project(t, "Gone"), f.project(t, "Other")
	item := f.item(t, notebook.ReviewAssignment, f.entity(t, "Rotate the keys"), notebook.Proposal{AssignProjectID: gone})
	f.exec(t, `DELETE FROM projects WHERE id = $1`, gone)

	_, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: &notebook.EntityInput{Owner: new("cy")}})
	requireError(t, err, tarsy.CodeConflict, "", "deleted since")

	detail, err := f.resolve(t, item, notebook.ReviewResolution{
		Decision: notebook.DecisionEdit, Entity: &notebook.EntityInput{ProjectID: &other, Owner: new("cy")},
	})
	require.NoError(t, err)
	require.Equal(t, &other, detail.Entity.ProjectID)
	require.Equal(t, "cy", detail.Entity.Owner)

	// An edit of other fields is applied together with the proposed place.
	again := f.item(t, notebook.ReviewAssignment, f.entity(t, "Rotate more keys"), notebook.Proposal{AssignProjectID: other})
	detail, err = f.resolve(t, again, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: &notebook.EntityInput{Owner: new("cy")}})
	require.NoError(t, err)
	require.Equal(t, &other, detail.Entity.ProjectID)
}

func TestRejectedAssignmentLeavesEntityUnfiled(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: f.project(t, "Security")})

	detail := f.decide(t, item, notebook.DecisionReject)
	require.Equal(t, notebook.ReviewRejected, detail.Status)
	require.Nil(t, detail.Entity.ProjectID)
	require.Equal(t, entity.Version, detail.Entity.Version)
}

func TestAssignmentToUnusedPlaceIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	epic := f.epic(t, project, "Keys")
	item := f.item(t, notebook.ReviewAssignment, f.entity(t, "Rotate the keys"), notebook.Proposal{AssignProjectID: project, AssignEpicID: epic})

	for _, c := range []struct{ sql, id, says string }{
		{`UPDATE epics SET status = 'done' WHERE id = $1`, epic, `"Keys" is already done`},
		{`DELETE FROM epics WHERE id = $1`, epic, "epic has been deleted"},
		{`UPDATE projects SET status = 'archived' WHERE id = $1`, project, `"Security" has been archived`},
		{`DELETE FROM projects WHERE id = $1`, project, "project has been deleted"},
	} {
		f.exec(t, c.sql, c.id)

		_, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionAccept})
		requireError(t, err, tarsy.CodeConflict, "", c.says)
		require.Equal(t, notebook.ReviewOpen, f.status(t, item))
	}
}

func TestAcceptedEpicIsCreatedWithItsEntities(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project, other := f.project(t, "Security"), f.project(t, "Other")
	free, inside, elsewhere, filed := f.entity(t, "Free"), f.entity(t, "Inside"), f.entity(t, "Elsewhere"), f.entity(t, "Filed")
	rejected, deleted := f.entity(t, "Rejected"), f.entity(t, "Deleted")
	oldEpic := f.epic(t, project, "Old")
	item := f.epicItem(t, project, "Keys", free, inside, elsewhere, filed, rejected, deleted)

	f.exec(t, `UPDATE entities SET project_id = $2 WHERE id = $1`, inside.ID, project)
	f.exec(t, `UPDATE entities SET project_id = $2 WHERE id = $1`, elsewhere.ID, other)
	f.exec(t, `UPDATE entities SET project_id = $2, epic_id = $3 WHERE id = $1`, filed.ID, project, oldEpic)
	f.exec(t, `UPDATE entities SET state = 'rejected' WHERE id = $1`, rejected.ID)
	f.exec(t, `DELETE FROM entities WHERE id = $1`, deleted.ID)

	detail := f.decide(t, item, notebook.DecisionAccept)
	require.Equal(t, notebook.ReviewAccepted, detail.Status)
	require.Len(t, detail.Entities, 5)

	epics, err := store.Epics(t.Context(), f.db.Reader(), `WHERE e.project_id = $1 AND e.name = 'Keys'`, project)
	require.NoError(t, err)
	require.Len(t, epics, 1)
	require.Equal(t, "About Keys", epics[0].Description)
	require.Equal(t, "bea", epics[0].CreatedBy)

	for _, e := range []notebook.EntityDetail{free, inside} {
		require.Equal(t, &epics[0].ID, f.stored(t, e.ID).EpicID, e.Title)
		require.Equal(t, &project, f.stored(t, e.ID).ProjectID, e.Title)
	}

	require.Nil(t, f.stored(t, elsewhere.ID).EpicID)
	require.Nil(t, f.stored(t, rejected.ID).EpicID)
	require.Equal(t, &oldEpic, f.stored(t, filed.ID).EpicID)
	require.Contains(t, types(f.events(t, notebook.TypeReviewResolved, 1)), notebook.TypeEpicChanged)
}

func TestEpicOfExistingNameTakesEntities(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	entity := f.entity(t, "Rotate the keys")
	item := f.epicItem(t, project, "Secrets", entity)
	existing := f.epic(t, project, "KEYS")

	_, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionEdit, EpicName: new(" ")})
	requireError(t, err, tarsy.CodeInvalidField, "epic_name", "empty")

	_, err = f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionEdit, EpicName: new("keys")})
	require.NoError(t, err)
	require.Equal(t, &existing, f.stored(t, entity.ID).EpicID)
}

func TestConcurrentlyAcceptedEpicsWithSameNameBecomeOne(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")

	var (
		items    []notebook.ReviewItem
		entities []notebook.EntityDetail
	)

	for range 8 {
		entity := f.entity(t, "Rotate")
		entities = append(entities, entity)
		items = append(items, f.epicItem(t, project, "Keys", entity))
	}

	var group sync.WaitGroup
	for _, item := range items {
		group.Go(func() {
			_, err := f.Resolve(t.Context(), notebook.ReviewResolution{ItemID: item.ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea"})
			require.NoError(t, err)
		})
	}

	group.Wait()

	epics, err := store.Epics(t.Context(), f.db.Reader(), `WHERE e.project_id = $1`, project)
	require.NoError(t, err)
	require.Len(t, epics, 1)

	for _, entity := range entities {
		require.Equal(t, &epics[0].ID, f.stored(t, entity.ID).EpicID)
	}
}

func TestDecisionsThatDoNotFitKindAreRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project, entity, other := f.project(t, "Security"), f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	items := map[notebook.ReviewKind]notebook.ReviewItem{
		notebook.ReviewEntity:     f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{}),
		notebook.ReviewAssignment: f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: project}),
		notebook.ReviewDuplicate:  f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID}),
		notebook.ReviewEpic:       f.epicItem(t, project, "Keys", entity),
	}
	title := &notebook.EntityInput{Title: new("x")}

	for _, c := range []struct {
		kind  notebook.ReviewKind
		in    notebook.ReviewResolution
		code  tarsy.Code
		field string
	}{
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: "perhaps"}, tarsy.CodeInvalidField, "decision"},
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: notebook.DecisionMerge}, tarsy.CodeInvalidField, "decision"},
		{notebook.ReviewAssignment, notebook.ReviewResolution{Decision: notebook.DecisionMerge}, tarsy.CodeInvalidField, "decision"},
		{notebook.ReviewEpic, notebook.ReviewResolution{Decision: notebook.DecisionMerge}, tarsy.CodeInvalidField, "decision"},
		{notebook.ReviewDuplicate, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: title}, tarsy.CodeInvalidField, "decision"},
		{notebook.ReviewDuplicate, notebook.ReviewResolution{Decision: notebook.DecisionMerge, KeepID: ident.New()}, tarsy.CodeInvalidField, "keep_id"},
		{notebook.ReviewDuplicate, notebook.ReviewResolution{Decision: notebook.DecisionReject, KeepID: entity.ID}, tarsy.CodeInvalidField, "keep_id"},
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: notebook.DecisionAccept, Entity: title}, tarsy.CodeInvalidField, "entity"},
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: notebook.DecisionEdit}, tarsy.CodeMissingField, "entity"},
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: title, EpicName: new("x")}, tarsy.CodeInvalidField, "epic_name"},
		{notebook.ReviewEpic, notebook.ReviewResolution{Decision: notebook.DecisionEdit, Entity: title}, tarsy.CodeInvalidField, "entity"},
		{notebook.ReviewEpic, notebook.ReviewResolution{Decision: notebook.DecisionEdit}, tarsy.CodeMissingField, "epic_name"},
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: notebook.DecisionAccept, Reason: strings.Repeat("x", 2001)}, tarsy.CodeInvalidField, "reason"},
		{notebook.ReviewEntity, notebook.ReviewResolution{Decision: notebook.DecisionAccept, Version: 7}, tarsy.CodeChangedMeanwhile, "If-Match"},
	} {
		_, err := f.resolve(t, items[c.kind], c.in)
		requireError(t, err, c.code, c.field, "")
		require.Equal(t, notebook.ReviewOpen, f.status(t, items[c.kind]))
	}

	_, err := f.Resolve(t.Context(), notebook.ReviewResolution{ItemID: "x", Version: 1, Decision: notebook.DecisionAccept})
	requireError(t, err, tarsy.CodeReviewNotFound, "", `"x"`)

	_, err = f.Resolve(t.Context(), notebook.ReviewResolution{ItemID: ident.New(), Version: 1, Decision: notebook.DecisionAccept})
	requireError(t, err, tarsy.CodeReviewNotFound, "", "no review item")
}

func TestExactlyOneOfManyConcurrentDecisionsWins(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for name, items := range map[string][]notebook.ReviewItem{
		"one item": {f.item(t, notebook.ReviewEntity, f.entity(t, "Rotate the keys"), notebook.Proposal{})},
		// Each makes the other obsolete, and they lock the same entities.
		"two that exclude each other": func() []notebook.ReviewItem {
			entity, other := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")

			return []notebook.ReviewItem{
				f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID}),
				f.item(t, notebook.ReviewDuplicate, other, notebook.Proposal{DuplicateOf: entity.ID}),
			}
		}(),
	} {
		var (
			group  sync.WaitGroup
			errs   = make(chan error, 30)
			winner int
		)

		for i := range cap(errs) {
			group.Go(func() {
				_, err := f.Resolve(t.Context(), notebook.ReviewResolution{
					ItemID: items[i%len(items)].ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea",
				})
				errs <- err
			})
		}

		group.Wait()
		close(errs)

		for err := range errs {
			if err == nil {
				winner++
			} else {
				require.Equal(t, tarsy.CodeReviewResolved, tarsy.CodeOf(err), "%s: %v", name, err)
			}
		}

		require.Equal(t, 1, winner, name)

		var recorded int

		all := []string{items[0].ID, items[len(items)-1].ID}
		require.NoError(t, f.db.Reader().QueryRow(t.Context(), `SELECT count(*) FROM review_decisions WHERE item_id = ANY($1)`, all).Scan(&recorded))
		require.Equal(t, 1, recorded, name)
	}
}

func TestResolveAllDecidesItemsIndependently(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	first, second := f.item(t, notebook.ReviewEntity, f.entity(t, "One"), notebook.Proposal{}), f.item(t, notebook.ReviewEntity, f.entity(t, "Two"), notebook.Proposal{})
	missing := ident.New()

	var logged []error

	results, err := f.ResolveAll(t.Context(), []notebook.ReviewResolution{
		{ItemID: first.ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea"},
		{ItemID: missing, Version: 1, Decision: notebook.DecisionAccept, Author: "bea"},
		{ItemID: second.ID, Version: 9, Decision: notebook.DecisionAccept, Author: "bea"},
		{ItemID: first.ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea"},
		{ItemID: second.ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea"},
	}, func(err error) { logged = append(logged, err) })
	require.NoError(t, err)

	var codes []tarsy.Code
	for _, r := range results {
		codes = append(codes, r.Code)
		require.Equal(t, r.Code == "", r.Item != nil)
		require.Equal(t, r.Code == "", r.Message == "")
	}

	require.Equal(t, []tarsy.Code{"", tarsy.CodeReviewNotFound, tarsy.CodeChangedMeanwhile, tarsy.CodeReviewResolved, ""}, codes)
	require.Equal(t, notebook.ReviewAccepted, results[4].Item.Status)
	require.Empty(t, logged)

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	results, err = f.ResolveAll(ended, []notebook.ReviewResolution{{ItemID: first.ID, Version: 1, Decision: notebook.DecisionAccept}}, func(err error) { logged = append(logged, err) })
	require.NoError(t, err)
	require.Equal(t, tarsy.CodeInternal, results[0].Code)
	require.Len(t, logged, 1)
}

func TestInvalidReasonOfOneItemDecidesNone(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	first, second := f.item(t, notebook.ReviewEntity, f.entity(t, "One"), notebook.Proposal{}), f.item(t, notebook.ReviewEntity, f.entity(t, "Two"), notebook.Proposal{})

	_, err := f.ResolveAll(t.Context(), []notebook.ReviewResolution{
		{ItemID: first.ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea"},
		{ItemID: second.ID, Version: 1, Decision: notebook.DecisionAccept, Author: "bea", Reason: strings.Repeat("x", 2001)},
	}, func(err error) { require.NoError(t, err) })
	require.Equal(t, tarsy.CodeInvalidField, tarsy.CodeOf(err))

	item, err := f.Item(t.Context(), first.ID)
	require.NoError(t, err)
	require.Equal(t, notebook.ReviewOpen, item.Status)
}
