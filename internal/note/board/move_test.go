package board_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

func (f *fixture) move(t *testing.T, id string, move notebook.EntityMove) notebook.EntityDetail {
	t.Helper()

	moved, err := f.MoveEntity(t.Context(), id, move, "bob")
	require.NoError(t, err)

	return moved
}

func TestMovePlacesEntityBesideNeighbourAndAtEnd(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b, c := f.task(t, "a"), f.task(t, "b"), f.task(t, "c")
	require.Equal(t, []string{"a", "b", "c"}, f.column(t, notebook.EntityOpen))

	moved := f.move(t, c.ID, notebook.EntityMove{BeforeID: a.ID})
	require.Equal(t, []string{"c", "a", "b"}, f.column(t, notebook.EntityOpen))
	require.Equal(t, int64(2), moved.Version)
	require.Equal(t, "bob", moved.EditedBy)

	f.move(t, c.ID, notebook.EntityMove{AfterID: a.ID})
	require.Equal(t, []string{"a", "c", "b"}, f.column(t, notebook.EntityOpen))

	f.move(t, a.ID, notebook.EntityMove{Status: new(notebook.EntityOpen)})
	require.Equal(t, []string{"c", "b", "a"}, f.column(t, notebook.EntityOpen))

	f.move(t, b.ID, notebook.EntityMove{Status: new(notebook.EntityDone)})
	f.move(t, c.ID, notebook.EntityMove{Status: new(notebook.EntityDone), BeforeID: b.ID})
	require.Equal(t, []string{"a"}, f.column(t, notebook.EntityOpen))
	require.Equal(t, []string{"c", "b"}, f.column(t, notebook.EntityDone))
	require.Equal(t, []string{"a", "c", "b"}, f.titles(t, notebook.EntityQuery{Board: true}))

	d := f.task(t, "d")
	f.move(t, a.ID, notebook.EntityMove{AfterID: d.ID})
	require.Equal(t, []string{"d", "a"}, f.column(t, notebook.EntityOpen), "after the last one")
}

func TestMoveToEpicFilesUnderItsProjectAndKeepsPlace(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	epic := f.epic(t, f.project(t, "Login").ID, "Safari")
	a, _ := f.task(t, "a"), f.task(t, "b")

	moved := f.move(t, a.ID, notebook.EntityMove{EpicID: &epic.ID})
	require.Equal(t, epic.ID, *moved.EpicID)
	require.Equal(t, epic.ProjectID, *moved.ProjectID)
	require.Equal(t, []string{"a", "b"}, f.column(t, notebook.EntityOpen))

	moved = f.move(t, a.ID, notebook.EntityMove{EpicID: new("")})
	require.Nil(t, moved.EpicID)
	require.Equal(t, epic.ProjectID, *moved.ProjectID)
}

func TestMoveIsRefusedWithReason(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.task(t, "a"), f.task(t, "b", func(in *notebook.EntityInput) { in.Status = new(notebook.EntityDone) })

	for name, c := range map[string]struct {
		id    string
		move  notebook.EntityMove
		code  tarsy.Code
		field string
	}{
		"nothing":                    {a.ID, notebook.EntityMove{}, tarsy.CodeMissingField, ""},
		"both neighbours":            {a.ID, notebook.EntityMove{BeforeID: b.ID, AfterID: b.ID}, tarsy.CodeInvalidField, "after_id"},
		"neighbour no id":            {a.ID, notebook.EntityMove{BeforeID: "b"}, tarsy.CodeInvalidField, "before_id"},
		"beside itself":              {a.ID, notebook.EntityMove{AfterID: a.ID}, tarsy.CodeInvalidField, "after_id"},
		"neighbour in other column":  {a.ID, notebook.EntityMove{AfterID: b.ID}, tarsy.CodeConflict, "after_id"},
		"neighbour that is gone":     {a.ID, notebook.EntityMove{BeforeID: ident.New()}, tarsy.CodeConflict, "before_id"},
		"no such status":             {a.ID, notebook.EntityMove{Status: new(notebook.EntityStatus("later"))}, tarsy.CodeInvalidField, "status"},
		"no such epic":               {a.ID, notebook.EntityMove{EpicID: new(ident.New())}, tarsy.CodeEpicNotFound, "epic_id"},
		"no such entity":             {ident.New(), notebook.EntityMove{Status: new(notebook.EntityDone)}, tarsy.CodeEntityNotFound, ""},
		"entity that cannot exist":   {"x", notebook.EntityMove{Status: new(notebook.EntityDone)}, tarsy.CodeEntityNotFound, ""},
		"gone entity with neighbour": {ident.New(), notebook.EntityMove{BeforeID: a.ID}, tarsy.CodeEntityNotFound, ""},
	} {
		_, err := f.MoveEntity(t.Context(), c.id, c.move, "bob")
		require.Equal(t, c.code, tarsy.CodeOf(err), "%s: %v", name, err)
		require.Equal(t, c.field, fieldOf(err), name)
	}

	require.Equal(t, []string{"a"}, f.column(t, notebook.EntityOpen))
}

// Halving the distance to a neighbour runs out of numbers after about fifty moves, so further moves need new positions.
func TestManyMovesToSamePlaceKeepOrder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b, c := f.task(t, "a"), f.task(t, "b"), f.task(t, "c")

	for i := range 120 {
		first, second := b, c
		if i%2 == 1 {
			first, second = c, b
		}

		f.move(t, first.ID, notebook.EntityMove{AfterID: a.ID})
		require.Equal(t, []string{"a", first.Title, second.Title}, f.column(t, notebook.EntityOpen), "move %d", i)
	}

	stays, err := f.Entity(t.Context(), a.ID)
	require.NoError(t, err)
	require.Equal(t, int64(1), stays.Version, "a new position of another entity is no change")
}

// A model can create many entities at the same moment.
func TestMoveBetweenEqualPositionsKeepsOrderOfOthers(t *testing.T) {
	t.Parallel()

	for _, count := range []int{2, 16, 33, 100, 300} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			t.Parallel()

			f := newFixture(t)
			ids := make([]string, count)

			f.change(t, func(tx *store.Tx) error {
				for i := range count {
					ids[i] = ident.New()
					store.InsertEntity(tx, notebook.EntityDetail{Entity: notebook.Entity{
						ID: ids[i], Type: notebook.EntityTask, Title: ids[i], Status: notebook.EntityOpen, State: notebook.EntityAccepted, CreatedBy: "tarsy",
						CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
					}})
				}

				return nil
			})
			slices.Sort(ids)

			moved := f.task(t, "moved")
			f.move(t, moved.ID, notebook.EntityMove{AfterID: ids[count/2-1]})
			require.Equal(t, slices.Insert(slices.Clone(ids), count/2, "moved"), f.column(t, notebook.EntityOpen))
		})
	}
}

// When people drag concurrently, all of them see the same order, and nothing is lost or duplicated.
func TestConcurrentMovesEndInOneConsistentOrder(t *testing.T) {
	t.Parallel()

	const tasks, people, moves = 6, 4, 15

	f := newFixture(t)
	ids := make([]string, tasks)
	titles := make([]string, tasks)

	for i := range tasks {
		titles[i] = string(rune('a' + i))
		ids[i] = f.task(t, titles[i]).ID
	}

	var (
		wg   sync.WaitGroup
		errs = make(chan error, people*moves)
	)

	for p := range people {
		wg.Go(func() {
			for i := range moves {
				moved, beside := ids[(p+i)%tasks], ids[(p+2*i+1)%tasks]
				if moved == beside {
					continue
				}

				move := notebook.EntityMove{BeforeID: beside}
				if i%2 == 0 {
					move = notebook.EntityMove{AfterID: beside}
				}

				_, err := f.MoveEntity(t.Context(), moved, move, "bob")
				errs <- err
			}
		})
	}

	wg.Wait()
	close(errs)

	for err := range errs {
		require.NoError(t, err)
	}

	order := f.column(t, notebook.EntityOpen)
	require.ElementsMatch(t, titles, order)

	page, err := f.Entities(t.Context(), notebook.EntityQuery{Board: true, Limit: tasks})
	require.NoError(t, err)

	for i := 1; i < tasks; i++ {
		require.Less(t, page.Entities[i-1].Position, page.Entities[i].Position, "no two have the same place")
	}

	// Each move is exact, so one more can be checked against the current order.
	f.move(t, page.Entities[tasks-1].ID, notebook.EntityMove{BeforeID: page.Entities[0].ID})
	require.Equal(t, append([]string{order[tasks-1]}, order[:tasks-1]...), f.column(t, notebook.EntityOpen))
}

// Two people concurrently drop different entities into the same gap, one after its first neighbour and one before its second. Both end up
// in the gap, at different positions: at the same position, the older one would be first.
func TestTwoMovesIntoSameGapBothLandThere(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b, c, d := f.task(t, "a"), f.task(t, "b"), f.task(t, "c"), f.task(t, "d")

	for range 20 {
		f.move(t, c.ID, notebook.EntityMove{Status: new(notebook.EntityOpen)})
		f.move(t, d.ID, notebook.EntityMove{Status: new(notebook.EntityOpen)})

		var wg sync.WaitGroup
		for id, move := range map[string]notebook.EntityMove{c.ID: {BeforeID: b.ID}, d.ID: {AfterID: a.ID}} {
			wg.Go(func() {
				if _, err := f.MoveEntity(t.Context(), id, move, "bob"); err != nil {
					t.Error(err)
				}
			})
		}

		wg.Wait()
		require.Equal(t, []string{"a", "d", "c", "b"}, f.column(t, notebook.EntityOpen), "each is beside the neighbour that was named")
	}
}

func fieldOf(err error) string {
	if e, ok := errors.AsType[*tarsy.Error](err); ok {
		return e.Field
	}

	return ""
}
