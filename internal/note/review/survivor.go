package review

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// family is entities together with those that they were merged into.
type family struct {
	byID map[string]notebook.EntityDetail
}

// survivors reads entities and whatever they were merged into.
func survivors(ctx context.Context, q store.Querier, entityIDs []string) (family, error) {
	known := family{byID: map[string]notebook.EntityDetail{}}

	for len(entityIDs) > 0 {
		found, err := store.Entities(ctx, q, `WHERE e.id = ANY($1)`, entityIDs)
		if err != nil {
			return known, fmt.Errorf("read entities of review items: %w", err)
		}

		next := ids{}

		for _, entity := range found {
			known.byID[entity.ID] = entity
		}

		for _, entity := range found {
			if _, ok := known.byID[store.IDText(entity.MergedInto)]; !ok {
				next.add(store.IDText(entity.MergedInto))
			}
		}

		entityIDs = next.sorted()
	}

	return known, nil
}

// survivor is the entity with an id, or the one that it was merged into in the end. It reports false if that was deleted.
func (f family) survivor(id string) (notebook.EntityDetail, bool) {
	entity, ok := f.byID[id]

	// Two entities are never merged into each other, but rows are not to be trusted with a loop.
	for range f.byID {
		if !ok || entity.State != notebook.EntityMerged {
			return entity, ok
		}

		entity, ok = f.byID[store.IDText(entity.MergedInto)]
	}

	return entity, ok && entity.State != notebook.EntityMerged
}
