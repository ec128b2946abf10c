package review

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// mergeCandidates returns the entities that merging a duplicate can change: both entities, the one that the other was merged into in the
// meantime, and those that were merged into any of them before.
func mergeCandidates(ctx context.Context, q store.Querier, item notebook.ReviewItem) ([]string, error) {
	known, err := survivors(ctx, q, []string{item.Proposal.DuplicateOf})
	if err != nil {
		return nil, err
	}

	candidates := []string{store.IDText(item.EntityID), item.Proposal.DuplicateOf}
	if survivor, ok := known.survivor(item.Proposal.DuplicateOf); ok {
		candidates = append(candidates, survivor.ID)
	}

	rows, err := q.Query(ctx, `SELECT id FROM entities WHERE merged_into = ANY($1)`, candidates)
	if err != nil {
		return nil, fmt.Errorf("look for merged entities: %w", err)
	}

	merged, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("look for merged entities: %w", err)
	}

	return append(candidates, merged...), nil
}

// merge merges two entities. The one that is kept gets the tags and sources of both; the other one refers to it.
func (d *decision) merge(ctx context.Context) error {
	entity, err := d.subject()
	if err != nil {
		return err
	}

	other, err := d.other()
	if err != nil {
		return err
	}

	keep, gone := other, entity

	switch d.in.KeepID {
	case "", other.ID, d.item.Proposal.DuplicateOf:
	case entity.ID:
		keep, gone = entity, other
	default:
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "keep_id", "keep_id must be %s or %s", entity.ID, other.ID)
	}

	if keep.ID == gone.ID {
		return tarsy.Errorf(tarsy.CodeConflict, "the entities have been merged since")
	}

	if err := d.checkMergedBefore(ctx, gone.ID); err != nil {
		return err
	}

	added := movedSources(keep, gone)
	keep.Sources = append(keep.Sources, added...)
	keep.Tags = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(keep.Tags), gone.Tags...))))

	// An accepted entity must not disappear from the board because its duplicate waits for a decision.
	accepts := keep.State == notebook.EntityProposed && gone.State == notebook.EntityAccepted
	if accepts {
		keep.State = notebook.EntityAccepted
	}

	d.update(keep)

	store.AddSources(d.tx, added)

	gone.State, gone.MergedInto = notebook.EntityMerged, &keep.ID
	d.update(gone)

	// Entities that were merged into the removed one are now part of the kept one.
	for _, id := range sortedIDs(d.entities) {
		if earlier := d.entities[id]; store.IDText(earlier.MergedInto) == gone.ID {
			earlier.MergedInto = &keep.ID
			d.update(earlier)
		}
	}

	// Items that propose the removed entity as a duplicate of others stay open and refer to the kept one.
	return d.closeOthers(ctx, `r.entity_id = $1 OR r.kind = 'duplicate' AND r.entity_id = $2 AND r.proposal->>'duplicate_of' = $1::uuid::text
		OR $3 AND r.kind = 'entity' AND r.entity_id = $2`, gone.ID, keep.ID, accepts)
}

// checkMergedBefore checks that every entity merged into id is locked: one may have been merged after mergeCandidates read them.
func (d *decision) checkMergedBefore(ctx context.Context, id string) error {
	var missed bool

	err := d.tx.QueryRow(ctx, `SELECT EXISTS (SELECT FROM entities WHERE merged_into = $1 AND id <> ALL($2))`, id, sortedIDs(d.entities)).Scan(&missed)
	if err != nil {
		return fmt.Errorf("look for merged entities: %w", err)
	}

	if missed {
		return errStale
	}

	return nil
}

// other returns the likely duplicate, or what it was merged into.
func (d *decision) other() (notebook.EntityDetail, error) {
	proposed, ok := d.entities[d.item.Proposal.DuplicateOf]
	if !ok {
		return proposed, tarsy.Errorf(tarsy.CodeConflict, "the other entity has been deleted since; reject the proposal")
	}

	if proposed.State == notebook.EntityMerged && proposed.MergedInto == nil {
		return proposed, tarsy.Errorf(tarsy.CodeConflict, "the entity that the other one was merged into has been deleted since; reject the proposal")
	}

	other, ok := family{byID: d.entities}.survivor(proposed.ID)
	if !ok {
		return other, errStale
	}

	if other.State == notebook.EntityRejected {
		return other, tarsy.Errorf(tarsy.CodeConflict, "the entity %q has been rejected since; reject the proposal", other.Title)
	}

	return other, nil
}

// movedSources returns the sources of gone that keep does not have, as sources of keep.
func movedSources(keep, gone notebook.EntityDetail) []notebook.EntitySource {
	var moved []notebook.EntitySource

	for _, source := range gone.Sources {
		has := slices.ContainsFunc(keep.Sources, func(s notebook.EntitySource) bool {
			return s.NoteID == source.NoteID && s.StartOffset == source.StartOffset
		})
		if !has {
			source.EntityID = keep.ID
			moved = append(moved, source)
		}
	}

	return moved
}
