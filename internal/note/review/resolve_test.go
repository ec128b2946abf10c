package review_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
)

func TestAcceptedEntityCountsAndRecordsWhoAndWhen(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, tarsy.ReviewEntity, entity, tarsy.Proposal{})

	detail, err := f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionAccept, Reason: " sure, hunter2\x00 "})
	require.NoError(t, err)
	require.Equal(t, tarsy.ReviewAccepted, detail.Status)
	require.Equal(t, "bea", detail.ResolvedBy)
	require.Equal(t, f.db.Now(), detail.ResolvedAt.UTC())
	require.Equal(t, int64(2), detail.Version)
	require.Equal(t, tarsy.EntityAccepted, detail.Entity.State)
	require.Equal(t, "bea", detail.Entity.EditedBy)
	require.Equal(t, entity.Title, detail.Note.Content)

	require.Len(t, detail.Decisions, 1)
	require.Equal(t, tarsy.DecisionAccept, detail.Decisions[0].Decision)
	require.Equal(t, "bea", detail.Decisions[0].Author)
	require.Equal(t, "sure, ***", detail.Decisions[0].Reason)
	require.Equal(t, f.db.Now(), detail.Decisions[0].DecidedAt.UTC())
	require.Nil(t, detail.Decisions[0].UndoneAt)

	events := f.events(t, tarsy.TypeReviewResolved, 1)
	require.Equal(t, []string{tarsy.TypeReviewCreated, tarsy.TypeEntityUpdated, tarsy.TypeReviewResolved}, types(events))
	require.Equal(t, tarsy.NotePayload{
		Type: tarsy.TypeReviewResolved, ReviewID: item.ID, EntityID: entity.ID, NoteID: *entity.NoteID, Status: "accepted", Author: "bea",
		Timestamp: f.db.Now(),
	}, events[2])
}

func types(events []tarsy.NotePayload) []string {
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
	item := f.item(t, tarsy.ReviewEntity, f.entity(t, "Rotate the keys", "keys"), tarsy.Proposal{})

	_, err := f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: &tarsy.EntityInput{Title: new("")}})
	requireError(t, err, tarsy.CodeInvalidField, "entity.title", "empty")
	require.Equal(t, tarsy.ReviewOpen, f.status(t, item))

	detail, err := f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: &tarsy.EntityInput{
		Title: new("Rotate hunter2"), Tags: new([]string{"Urgent"}), ProjectID: &project,
	}})
	require.NoError(t, err)
	require.Equal(t, tarsy.ReviewEdited, detail.Status)
	require.Equal(t, "Rotate ***", detail.Entity.Title)
	require.Equal(t, []string{"urgent"}, detail.Entity.Tags)
	require.Equal(t, &project, detail.Entity.ProjectID)
	require.Equal(t, tarsy.EntityAccepted, detail.Entity.State)
	require.Len(t, detail.Projects, 1)
}

func TestRejectingEntityMakesItsOtherItemsObsolete(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, similar := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	item := f.item(t, tarsy.ReviewEntity, entity, tarsy.Proposal{})
	assignment := f.item(t, tarsy.ReviewAssignment, entity, tarsy.Proposal{AssignProjectID: f.project(t, "Security")})
	duplicate := f.item(t, tarsy.ReviewDuplicate, similar, tarsy.Proposal{DuplicateOf: entity.ID})
	unrelated := f.item(t, tarsy.ReviewEntity, similar, tarsy.Proposal{})

	detail := f.decide(t, item, tarsy.DecisionReject)
	require.Equal(t, tarsy.ReviewRejected, detail.Status)
	require.Equal(t, tarsy.EntityRejected, detail.Entity.State)
	require.Equal(t, tarsy.ReviewObsolete, f.status(t, assignment))
	require.Equal(t, tarsy.ReviewObsolete, f.status(t, duplicate))
	require.Equal(t, tarsy.ReviewOpen, f.status(t, unrelated))

	_, err := f.resolve(t, assignment, tarsy.ReviewResolution{Decision: tarsy.DecisionAccept})
	requireError(t, err, tarsy.CodeReviewResolved, "", "no decision any more")
}

func TestAcceptedAssignmentFilesEntity(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	epic := f.epic(t, project, "Keys")
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, tarsy.ReviewAssignment, entity, tarsy.Proposal{AssignProjectID: project, AssignEpicID: epic})

	detail := f.decide(t, item, tarsy.DecisionAccept)
	require.Equal(t, []*string{&project, &epic}, []*string{detail.Entity.ProjectID, detail.Entity.EpicID})
	require.Equal(t, "bea", detail.Entity.EditedBy)
	require.Equal(t, tarsy.EntityProposed, detail.Entity.State)
	require.Len(t, detail.Epics, 1)
}

func TestEditedAssignmentFilesEntityElsewhere(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	gone, other := f.project(t, "Gone"), f.project(t, "Other")
	item := f.item(t, tarsy.ReviewAssignment, f.entity(t, "Rotate the keys"), tarsy.Proposal{AssignProjectID: gone})
	f.exec(t, `DELETE FROM projects WHERE id = $1`, gone)

	_, err := f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: &tarsy.EntityInput{Owner: new("cy")}})
	requireError(t, err, tarsy.CodeConflict, "", "deleted meanwhile")

	detail, err := f.resolve(t, item, tarsy.ReviewResolution{
		Decision: tarsy.DecisionEdit, Entity: &tarsy.EntityInput{ProjectID: &other, Owner: new("cy")},
	})
	require.NoError(t, err)
	require.Equal(t, &other, detail.Entity.ProjectID)
	require.Equal(t, "cy", detail.Entity.Owner)

	// Fields that say nothing of where it goes are changed beside what is proposed.
	again := f.item(t, tarsy.ReviewAssignment, f.entity(t, "Rotate more keys"), tarsy.Proposal{AssignProjectID: other})
	detail, err = f.resolve(t, again, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: &tarsy.EntityInput{Owner: new("cy")}})
	require.NoError(t, err)
	require.Equal(t, &other, detail.Entity.ProjectID)
}

func TestRejectedAssignmentLeavesEntityUnfiled(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity := f.entity(t, "Rotate the keys")
	item := f.item(t, tarsy.ReviewAssignment, entity, tarsy.Proposal{AssignProjectID: f.project(t, "Security")})

	detail := f.decide(t, item, tarsy.DecisionReject)
	require.Equal(t, tarsy.ReviewRejected, detail.Status)
	require.Nil(t, detail.Entity.ProjectID)
	require.Equal(t, entity.Version, detail.Entity.Version)
}

func TestAssignmentToUnusedPlaceIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	epic := f.epic(t, project, "Keys")
	item := f.item(t, tarsy.ReviewAssignment, f.entity(t, "Rotate the keys"), tarsy.Proposal{AssignProjectID: project, AssignEpicID: epic})

	for _, c := range []struct{ sql, id, says string }{
		{`UPDATE epics SET status = 'done' WHERE id = $1`, epic, `"Keys" is done`},
		{`DELETE FROM epics WHERE id = $1`, epic, "epic was deleted"},
		{`UPDATE projects SET status = 'archived' WHERE id = $1`, project, `"Security" was archived`},
		{`DELETE FROM projects WHERE id = $1`, project, "project was deleted"},
	} {
		f.exec(t, c.sql, c.id)

		_, err := f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionAccept})
		requireError(t, err, tarsy.CodeConflict, "", c.says)
		require.Equal(t, tarsy.ReviewOpen, f.status(t, item))
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

	detail := f.decide(t, item, tarsy.DecisionAccept)
	require.Equal(t, tarsy.ReviewAccepted, detail.Status)
	require.Len(t, detail.Entities, 5)

	epics, err := store.Epics(t.Context(), f.db.Reader(), `WHERE e.project_id = $1 AND e.name = 'Keys'`, project)
	require.NoError(t, err)
	require.Len(t, epics, 1)
	require.Equal(t, "About Keys", epics[0].Description)
	require.Equal(t, "bea", epics[0].CreatedBy)

	for _, e := range []tarsy.EntityDetail{free, inside} {
		require.Equal(t, &epics[0].ID, f.stored(t, e.ID).EpicID, e.Title)
		require.Equal(t, &project, f.stored(t, e.ID).ProjectID, e.Title)
	}

	require.Nil(t, f.stored(t, elsewhere.ID).EpicID)
	require.Nil(t, f.stored(t, rejected.ID).EpicID)
	require.Equal(t, &oldEpic, f.stored(t, filed.ID).EpicID)
	require.Contains(t, types(f.events(t, tarsy.TypeReviewResolved, 1)), tarsy.TypeEpicChanged)
}

func TestEpicOfExistingNameTakesEntities(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")
	entity := f.entity(t, "Rotate the keys")
	item := f.epicItem(t, project, "Secrets", entity)
	existing := f.epic(t, project, "KEYS")

	_, err := f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, EpicName: new(" ")})
	requireError(t, err, tarsy.CodeInvalidField, "epic_name", "empty")

	_, err = f.resolve(t, item, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, EpicName: new("keys")})
	require.NoError(t, err)
	require.Equal(t, &existing, f.stored(t, entity.ID).EpicID)
}

func TestEpicsOfSameNameAcceptedAtOnceBecomeOne(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	project := f.project(t, "Security")

	var (
		items    []tarsy.ReviewItem
		entities []tarsy.EntityDetail
	)

	for range 8 {
		entity := f.entity(t, "Rotate")
		entities = append(entities, entity)
		items = append(items, f.epicItem(t, project, "Keys", entity))
	}

	var group sync.WaitGroup
	for _, item := range items {
		group.Go(func() {
			_, err := f.Resolve(t.Context(), tarsy.ReviewResolution{ItemID: item.ID, Version: 1, Decision: tarsy.DecisionAccept, Author: "bea"})
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
	items := map[tarsy.ReviewKind]tarsy.ReviewItem{
		tarsy.ReviewEntity:     f.item(t, tarsy.ReviewEntity, entity, tarsy.Proposal{}),
		tarsy.ReviewAssignment: f.item(t, tarsy.ReviewAssignment, entity, tarsy.Proposal{AssignProjectID: project}),
		tarsy.ReviewDuplicate:  f.item(t, tarsy.ReviewDuplicate, entity, tarsy.Proposal{DuplicateOf: other.ID}),
		tarsy.ReviewEpic:       f.epicItem(t, project, "Keys", entity),
	}
	title := &tarsy.EntityInput{Title: new("x")}

	for _, c := range []struct {
		kind  tarsy.ReviewKind
		in    tarsy.ReviewResolution
		code  tarsy.Code
		field string
	}{
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: "perhaps"}, tarsy.CodeInvalidField, "decision"},
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: tarsy.DecisionMerge}, tarsy.CodeInvalidField, "decision"},
		{tarsy.ReviewAssignment, tarsy.ReviewResolution{Decision: tarsy.DecisionMerge}, tarsy.CodeInvalidField, "decision"},
		{tarsy.ReviewEpic, tarsy.ReviewResolution{Decision: tarsy.DecisionMerge}, tarsy.CodeInvalidField, "decision"},
		{tarsy.ReviewDuplicate, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: title}, tarsy.CodeInvalidField, "decision"},
		{tarsy.ReviewDuplicate, tarsy.ReviewResolution{Decision: tarsy.DecisionMerge, KeepID: tarsy.NewID()}, tarsy.CodeInvalidField, "keep_id"},
		{tarsy.ReviewDuplicate, tarsy.ReviewResolution{Decision: tarsy.DecisionReject, KeepID: entity.ID}, tarsy.CodeInvalidField, "keep_id"},
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: tarsy.DecisionAccept, Entity: title}, tarsy.CodeInvalidField, "entity"},
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit}, tarsy.CodeMissingField, "entity"},
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: title, EpicName: new("x")}, tarsy.CodeInvalidField, "epic_name"},
		{tarsy.ReviewEpic, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit, Entity: title}, tarsy.CodeInvalidField, "entity"},
		{tarsy.ReviewEpic, tarsy.ReviewResolution{Decision: tarsy.DecisionEdit}, tarsy.CodeMissingField, "epic_name"},
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: tarsy.DecisionAccept, Reason: strings.Repeat("x", 2001)}, tarsy.CodeInvalidField, "reason"},
		{tarsy.ReviewEntity, tarsy.ReviewResolution{Decision: tarsy.DecisionAccept, Version: 7}, tarsy.CodeChangedMeanwhile, "If-Match"},
	} {
		_, err := f.resolve(t, items[c.kind], c.in)
		requireError(t, err, c.code, c.field, "")
		require.Equal(t, tarsy.ReviewOpen, f.status(t, items[c.kind]))
	}

	_, err := f.Resolve(t.Context(), tarsy.ReviewResolution{ItemID: "x", Version: 1, Decision: tarsy.DecisionAccept})
	requireError(t, err, tarsy.CodeReviewNotFound, "", `"x"`)

	_, err = f.Resolve(t.Context(), tarsy.ReviewResolution{ItemID: tarsy.NewID(), Version: 1, Decision: tarsy.DecisionAccept})
	requireError(t, err, tarsy.CodeReviewNotFound, "", "no review item")
}

func TestExactlyOneOfManyConcurrentDecisionsWins(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for name, items := range map[string][]tarsy.ReviewItem{
		"one item": {f.item(t, tarsy.ReviewEntity, f.entity(t, "Rotate the keys"), tarsy.Proposal{})},
		// Each makes the other one obsolete, and they need the same entities.
		"two that exclude each other": func() []tarsy.ReviewItem {
			entity, other := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")

			return []tarsy.ReviewItem{
				f.item(t, tarsy.ReviewDuplicate, entity, tarsy.Proposal{DuplicateOf: other.ID}),
				f.item(t, tarsy.ReviewDuplicate, other, tarsy.Proposal{DuplicateOf: entity.ID}),
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
				_, err := f.Resolve(t.Context(), tarsy.ReviewResolution{
					ItemID: items[i%len(items)].ID, Version: 1, Decision: tarsy.DecisionAccept, Author: "bea",
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

func TestBulkDecidesEachItemByItself(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	first, second := f.item(t, tarsy.ReviewEntity, f.entity(t, "One"), tarsy.Proposal{}), f.item(t, tarsy.ReviewEntity, f.entity(t, "Two"), tarsy.Proposal{})
	missing := tarsy.NewID()

	var logged []error

	results := f.ResolveAll(t.Context(), []tarsy.ReviewResolution{
		{ItemID: first.ID, Version: 1, Decision: tarsy.DecisionAccept, Author: "bea"},
		{ItemID: missing, Version: 1, Decision: tarsy.DecisionAccept, Author: "bea"},
		{ItemID: second.ID, Version: 9, Decision: tarsy.DecisionAccept, Author: "bea"},
		{ItemID: first.ID, Version: 1, Decision: tarsy.DecisionAccept, Author: "bea"},
		{ItemID: second.ID, Version: 1, Decision: tarsy.DecisionAccept, Author: "bea"},
	}, func(err error) { logged = append(logged, err) })

	var codes []tarsy.Code
	for _, r := range results {
		codes = append(codes, r.Code)
		require.Equal(t, r.Code == "", r.Item != nil)
		require.Equal(t, r.Code == "", r.Message == "")
	}

	require.Equal(t, []tarsy.Code{"", tarsy.CodeReviewNotFound, tarsy.CodeChangedMeanwhile, tarsy.CodeReviewResolved, ""}, codes)
	require.Equal(t, tarsy.ReviewAccepted, results[4].Item.Status)
	require.Empty(t, logged)

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	results = f.ResolveAll(ended, []tarsy.ReviewResolution{{ItemID: first.ID, Version: 1, Decision: tarsy.DecisionAccept}}, func(err error) { logged = append(logged, err) })
	require.Equal(t, tarsy.CodeInternal, results[0].Code)
	require.Len(t, logged, 1)
}
