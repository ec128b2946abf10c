package review_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// rows is everything that a decision can change, without versions and times.
type rows struct {
	Entities []notebook.EntityDetail
	Items    []notebook.ReviewItem
	Epics    []notebook.Epic
}

func (f *fixture) rows(t require.TestingT) rows {
	var (
		all rows
		err error
		ctx = context.Background()
	)

	all.Entities, err = store.Entities(ctx, f.db.Reader(), `ORDER BY e.id`)
	require.NoError(t, err)
	all.Items, err = store.ReviewItems(ctx, f.db.Reader(), `ORDER BY r.id`)
	require.NoError(t, err)
	all.Epics, err = store.Epics(ctx, f.db.Reader(), `ORDER BY e.project_id, lower(e.name)`)
	require.NoError(t, err)

	for i := range all.Entities {
		all.Entities[i].Version, all.Entities[i].UpdatedAt = 0, time.Time{}
	}

	for i := range all.Items {
		all.Items[i].Version, all.Items[i].ResolvedAt = 0, nil
	}

	return all
}

// scene is the random entities and items of one draw.
type scene struct {
	*fixture

	projects []string
	entities []notebook.EntityDetail
	items    []notebook.ReviewItem
}

func (f *fixture) scene(t *rapid.T) *scene {
	// Draws share a database; each begins with empty tables.
	for _, table := range []string{"review_items", "entities", "notes", "projects", "tags"} {
		f.exec(t, `DELETE FROM `+table)
	}

	s := &scene{fixture: f, projects: []string{f.project(t, "P"), f.project(t, "Q")}}
	f.epic(t, s.projects[0], "E1")

	for i := range 4 {
		tags := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2, rapid.ID[string]).Draw(t, "tags")
		s.entities = append(s.entities, f.entity(t, fmt.Sprintf("Entity %d", i), tags...))
	}

	some := rapid.SampledFrom(s.entities)

	for range rapid.IntRange(2, 6).Draw(t, "items") {
		switch entity := some.Draw(t, "entity"); rapid.SampledFrom(notebook.ReviewKinds()).Draw(t, "kind") {
		case notebook.ReviewEntity:
			s.items = append(s.items, f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{}))
		case notebook.ReviewAssignment:
			project := rapid.SampledFrom(s.projects).Draw(t, "project")
			s.items = append(s.items, f.item(t, notebook.ReviewAssignment, entity, notebook.Proposal{AssignProjectID: project}))
		case notebook.ReviewDuplicate:
			if other := some.Draw(t, "other"); other.ID != entity.ID {
				s.items = append(s.items, f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID}))
			}
		case notebook.ReviewEpic:
			name := rapid.SampledFrom([]string{"E1", "E2"}).Draw(t, "name")
			s.items = append(s.items, f.epicItem(t, rapid.SampledFrom(s.projects).Draw(t, "project"), name, entity, some.Draw(t, "second")))
		}
	}

	return s
}

// resolution draws a random decision that fits an item.
func (s *scene) resolution(t *rapid.T, item notebook.ReviewItem) notebook.ReviewResolution {
	in := notebook.ReviewResolution{
		ItemID: item.ID, Version: s.version(t, item.ID), Author: "bea",
		Decision: rapid.SampledFrom([]notebook.Decision{notebook.DecisionAccept, notebook.DecisionReject, notebook.DecisionEdit}).Draw(t, "decision"),
	}

	switch {
	case item.Kind == notebook.ReviewDuplicate && in.Decision != notebook.DecisionReject:
		in.Decision, in.KeepID = notebook.DecisionMerge, rapid.SampledFrom([]string{"", *item.EntityID}).Draw(t, "keep")
	case in.Decision == notebook.DecisionEdit && item.Kind == notebook.ReviewEpic:
		in.EpicName = new(rapid.SampledFrom([]string{"E1", "E3"}).Draw(t, "epic name"))
	case in.Decision == notebook.DecisionEdit:
		in.Entity = &notebook.EntityInput{
			Title: new("Edited"), Tags: new([]string{rapid.SampledFrom([]string{"b", "d"}).Draw(t, "tag")}), DueOn: new("2026-12-24"),
			ProjectID: new(rapid.SampledFrom(append(s.projects, "")).Draw(t, "new project")),
		}
	}

	return in
}

// expected checks that err is nil or a valid reason to refuse a decision or an undo.
func expected(t require.TestingT, err error) {
	if err != nil {
		require.Contains(t, []tarsy.Code{tarsy.CodeReviewResolved, tarsy.CodeConflict, tarsy.CodeUndoConflict, tarsy.CodeInvalidField}, tarsy.CodeOf(err), err)
	}
}

func TestUndoAfterAnyDecisionRestoresExactRows(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	rapid.Check(t, func(t *rapid.T) {
		s := f.scene(t)
		if len(s.items) == 0 {
			t.Skip("only duplicates of themselves")
		}

		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			item := rapid.SampledFrom(s.items).Draw(t, "item")
			before := f.rows(t)

			if _, err := f.Resolve(context.Background(), s.resolution(t, item)); err != nil {
				expected(t, err)
				require.Empty(t, cmp.Diff(before, f.rows(t), dates), "a refused decision changed something")

				// An earlier decision can still be undone, in any order.
				_, err = f.Undo(context.Background(), item.ID, "cy")
				expected(t, err)

				continue
			}

			after := f.rows(t)

			if rapid.Bool().Draw(t, "undo") {
				_, err := f.Undo(context.Background(), item.ID, "cy")
				require.NoError(t, err)
				require.Empty(t, cmp.Diff(before, f.rows(t), dates), "undone, but different from before")

				_, err = f.Undo(context.Background(), item.ID, "cy")
				require.Equal(t, tarsy.CodeUndoConflict, tarsy.CodeOf(err))
			} else {
				require.NotEmpty(t, cmp.Diff(before, after, dates))
			}
		}

		s.checkInvariants(t)
	})
}

// dates compares dates, whose fields are not exported.
var dates = cmp.Comparer(func(x, y calendar.Date) bool { return x.String() == y.String() })

func TestRandomConcurrentDecisionsNeverWinTwice(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	rapid.Check(t, func(t *rapid.T) {
		s := f.scene(t)
		if len(s.items) == 0 {
			t.Skip("only duplicates of themselves")
		}

		var group sync.WaitGroup

		errs := make(chan error, 9)

		for i := range cap(errs) {
			item := rapid.SampledFrom(s.items).Draw(t, "item")
			in := s.resolution(t, item)

			group.Go(func() {
				_, err := f.Resolve(context.Background(), in)
				if err == nil && i%3 == 0 {
					_, err = f.Undo(context.Background(), in.ItemID, "cy")
				}
				errs <- err
			})
		}

		group.Wait()
		close(errs)

		for err := range errs {
			if tarsy.CodeOf(err) != tarsy.CodeChangedMeanwhile {
				expected(t, err)
			}
		}

		s.checkInvariants(t)
	})
}

// checkInvariants checks the invariants that hold after any decisions.
func (s *scene) checkInvariants(t *rapid.T) {
	for what, sql := range map[string]string{
		"an item has two decisions that count": `SELECT count(*) FROM (SELECT FROM review_decisions WHERE undone_at IS NULL GROUP BY item_id HAVING count(*) > 1) x`,
		"an open item has a decision that counts": `SELECT count(*) FROM review_items r JOIN review_decisions d ON d.item_id = r.id AND d.undone_at IS NULL
			WHERE r.status = 'open'`,
		"a decided item has none": `SELECT count(*) FROM review_items r WHERE status NOT IN ('open', 'obsolete')
			AND NOT EXISTS (SELECT FROM review_decisions d WHERE d.item_id = r.id AND d.undone_at IS NULL)`,
		"an entity is merged into one that is merged": `SELECT count(*) FROM entities a JOIN entities b ON a.merged_into = b.id WHERE b.state = 'merged'`,
		"merged_into and state differ":                `SELECT count(*) FROM entities WHERE (state = 'merged') <> (merged_into IS NOT NULL)`,
		"an epic is not of the entity's project":      `SELECT count(*) FROM entities a JOIN epics e ON a.epic_id = e.id WHERE a.project_id IS DISTINCT FROM e.project_id`,
		"an open item is about an entity that does not count": `SELECT count(*) FROM review_items r JOIN entities e ON e.id = r.entity_id
			WHERE r.status = 'open' AND e.state IN ('rejected', 'merged')`,
	} {
		var n int

		require.NoError(t, s.db.Reader().QueryRow(context.Background(), sql).Scan(&n), what)
		require.Zero(t, n, what)
	}
}
