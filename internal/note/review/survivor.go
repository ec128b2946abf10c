package review

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// family is a set of entities together with those that they were merged into.
type family struct {
	byID map[string]notebook.EntityDetail
}

// survivors reads entities and everything they were merged into, transitively.
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

// survivor returns the entity with an ID, or the one that it was finally merged into. It returns false if that one was deleted.
func (f family) survivor(id string) (notebook.EntityDetail, bool) {
	entity, ok := f.byID[id]

	// Entities are never merged in a cycle, but bound the loop in case the rows say otherwise.
	for range f.byID {
		if !ok || entity.State != notebook.EntityMerged {
			return entity, ok
		}

		entity, ok = f.byID[store.IDText(entity.MergedInto)]
	}

	return entity, ok && entity.State != notebook.EntityMerged
}
