package review_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

func TestMergeCombinesTagsAndSources(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, other := f.entity(t, "Rotate the keys", "keys", "urgent"), f.entity(t, "Rotate keys", "keys", "ops")
	item := f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID})
	own := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
	kept := f.item(t, notebook.ReviewEntity, other, notebook.Proposal{})
	reverse := f.item(t, notebook.ReviewDuplicate, other, notebook.Proposal{DuplicateOf: entity.ID})

	detail := f.decide(t, item, notebook.DecisionMerge)
	require.Equal(t, notebook.ReviewMerged, detail.Status)

	gone, stays := f.stored(t, entity.ID), f.stored(t, other.ID)
	require.Equal(t, notebook.EntityMerged, gone.State)
	require.Equal(t, &other.ID, gone.MergedInto)
	require.Equal(t, []string{"keys", "ops", "urgent"}, stays.Tags)
	require.Equal(t, notebook.EntityProposed, stays.State)
	require.Equal(t, "bea", stays.EditedBy)

	var quotes []string
	for _, s := range stays.Sources {
		quotes = append(quotes, s.Quote)
	}

	require.ElementsMatch(t, []string{"Rotate the keys", "Rotate keys"}, quotes)
	require.Equal(t, notebook.ReviewObsolete, f.status(t, own))
	require.Equal(t, notebook.ReviewObsolete, f.status(t, reverse))
	require.Equal(t, notebook.ReviewOpen, f.status(t, kept))
}

func TestAcceptedDuplicateIsMergedIntoProposedOne(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, other := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	item := f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID})

	require.Equal(t, notebook.ReviewMerged, f.decide(t, item, notebook.DecisionAccept).Status)
	require.Equal(t, &other.ID, f.stored(t, entity.ID).MergedInto)
}

func TestRejectedDuplicateLeavesBoth(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, other := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	item := f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID})

	detail := f.decide(t, item, notebook.DecisionReject)
	require.Equal(t, entity.Version, detail.Entity.Version)
	require.Equal(t, other.ID, detail.Other.ID)
	require.Equal(t, other.Version, detail.Other.Version)
}

func TestKeepIDSelectsSurvivor(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	entity, other := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
	waits := f.item(t, notebook.ReviewEntity, entity, notebook.Proposal{})
	item := f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID})
	f.exec(t, `UPDATE entities SET state = 'accepted' WHERE id = $1`, other.ID)

	_, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionMerge, KeepID: entity.ID})
	require.NoError(t, err)
	require.Equal(t, &entity.ID, f.stored(t, other.ID).MergedInto)
	// One of them was already on the board, so the one that is kept is too.
	require.Equal(t, notebook.EntityAccepted, f.stored(t, entity.ID).State)
	require.Equal(t, notebook.ReviewObsolete, f.status(t, waits))
}

func TestChainsOfMergesEndAtSurvivor(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b, c, d := f.entity(t, "A", "a"), f.entity(t, "B", "b"), f.entity(t, "C", "c"), f.entity(t, "D", "d")
	aIntoB := f.item(t, notebook.ReviewDuplicate, a, notebook.Proposal{DuplicateOf: b.ID})
	bIntoC := f.item(t, notebook.ReviewDuplicate, b, notebook.Proposal{DuplicateOf: c.ID})
	dIntoA := f.item(t, notebook.ReviewDuplicate, d, notebook.Proposal{DuplicateOf: a.ID})

	f.decide(t, aIntoB, notebook.DecisionMerge)
	f.decide(t, bIntoC, notebook.DecisionMerge)

	open, err := f.Item(t.Context(), dIntoA.ID)
	require.NoError(t, err)
	require.Equal(t, c.ID, open.Other.ID)

	f.decide(t, dIntoA, notebook.DecisionMerge)

	for _, e := range []notebook.EntityDetail{a, b, d} {
		require.Equal(t, &c.ID, f.stored(t, e.ID).MergedInto, e.Title)
	}

	require.Equal(t, []string{"a", "b", "c", "d"}, f.stored(t, c.ID).Tags)
	require.Len(t, f.stored(t, c.ID).Sources, 4)
}

func TestMergeWithEntityThatIsGoneIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for says, sql := range map[string]string{
		"the other entity has been deleted":   `DELETE FROM entities WHERE id = $1`,
		"has been rejected":                   `UPDATE entities SET state = 'rejected' WHERE id = $1`,
		"was merged into has been deleted":    `UPDATE entities SET state = 'merged' WHERE id = $1`,
		`"Rotate the keys" has been rejected`: `UPDATE entities SET state = 'rejected' WHERE id <> $1 AND state = 'proposed'`,
	} {
		entity, other := f.entity(t, "Rotate the keys"), f.entity(t, "Rotate keys")
		item := f.item(t, notebook.ReviewDuplicate, entity, notebook.Proposal{DuplicateOf: other.ID})
		f.exec(t, sql, other.ID)

		_, err := f.resolve(t, item, notebook.ReviewResolution{Decision: notebook.DecisionMerge})
		requireError(t, err, tarsy.CodeConflict, "", says)
		require.Equal(t, notebook.ReviewOpen, f.status(t, item))
	}
}
