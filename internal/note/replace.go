package note

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// sameSimilarity is the word similarity from which two entities with overlapping evidence are considered the same.
const sameSimilarity = 0.7

// untouchedSQL selects the entities of earlier versions of a note that no person has edited or decided on.
const untouchedSQL = `WHERE e.note_id = $1 AND e.note_version < $2 AND e.edited_by = '' AND e.state IN ('proposed', 'accepted')
	AND NOT EXISTS (SELECT FROM entities m WHERE m.merged_into = e.id)
	AND NOT EXISTS (SELECT FROM review_items r JOIN review_decisions d ON d.item_id = r.id WHERE r.entity_id = e.id AND d.undone_at IS NULL)
	ORDER BY e.id FOR UPDATE`

// affectedSQL selects the open review items that name an entity of a note.
const affectedSQL = `WHERE r.status = 'open' AND (r.entity_id IN (SELECT id FROM entities WHERE note_id = $1)
		OR r.proposal->>'duplicate_of' IN (SELECT id::text FROM entities WHERE note_id = $1)
		OR r.proposal->'entity_ids' ?| ARRAY (SELECT id::text FROM entities WHERE note_id = $1))
	ORDER BY r.id FOR UPDATE`

// replaceEntities removes the entities of earlier versions of a note that no person has touched, and their open review items. It returns
// the remaining ones.
func replaceEntities(ctx context.Context, tx *store.Tx, note notebook.Note) ([]notebook.EntityDetail, error) {
	if note.Version == 1 {
		return nil, nil
	}

	// Lock items before entities, in the same order as package board.
	items, err := store.ReviewItems(ctx, tx, affectedSQL, note.ID)
	if err != nil {
		return nil, err
	}

	replaced, err := store.Entities(ctx, tx, untouchedSQL, note.ID, note.Version)
	if err != nil {
		return nil, err
	}

	ids := make([]string, len(replaced))
	for i, e := range replaced {
		ids[i] = e.ID
	}

	if err := releaseReviewItems(ctx, tx, items, ids); err != nil {
		return nil, err
	}

	if _, err := tx.Exec(ctx, `DELETE FROM entities WHERE id = ANY($1)`, ids); err != nil {
		return nil, err
	}

	for _, e := range replaced {
		tx.Emit(store.EntityEvent(notebook.TypeEntityDeleted, e.Entity, ""))
	}

	return store.Entities(ctx, tx, `WHERE e.note_id = $1 ORDER BY e.id`, note.ID)
}

// releaseReviewItems removes entities from open review items. Items with nothing left become obsolete.
func releaseReviewItems(ctx context.Context, tx *store.Tx, items []notebook.ReviewItem, entityIDs []string) error {
	var obsolete []string

	for _, item := range items {
		if item.Kind != notebook.ReviewEpic {
			if slices.Contains(entityIDs, *item.EntityID) || slices.Contains(entityIDs, item.Proposal.DuplicateOf) {
				obsolete = append(obsolete, item.ID)
			}

			continue
		}

		left := slices.DeleteFunc(slices.Clone(item.Proposal.EntityIDs), func(id string) bool { return slices.Contains(entityIDs, id) })

		switch {
		case len(left) == 0:
			obsolete = append(obsolete, item.ID)
		case len(left) < len(item.Proposal.EntityIDs):
			item.Proposal.EntityIDs = left
			if err := store.UpdateProposal(ctx, tx, item); err != nil {
				return err
			}
		}
	}

	if len(obsolete) == 0 {
		return nil
	}

	return store.CloseReviewItems(ctx, tx, `r.id = ANY($1)`, obsolete)
}

// isKnown reports whether the note already has the entity: one that a person kept, or one of the same answer. The latter is compared by its
// title only, because one sentence can contain several tasks.
func isKnown(ctx context.Context, tx *store.Tx, known []notebook.EntityDetail, note notebook.Note, f infer.Extracted) (bool, error) {
	title := plainTitle(f.Title)

	for _, k := range known {
		if k.Type == f.Type && plainTitle(k.Title) == title {
			return true, nil
		}

		if k.NoteVersion == note.Version || !overlaps(k.Sources, note.ID, f.Passage) {
			continue
		}

		score, err := store.WordSimilarity(ctx, tx, k.ID, f.Title, f.Content)
		if err != nil {
			return false, err
		}

		if score >= sameSimilarity {
			return true, nil
		}
	}

	return false, nil
}

func overlaps(sources []notebook.EntitySource, noteID string, p *infer.Passage) bool {
	return p != nil && slices.ContainsFunc(sources, func(s notebook.EntitySource) bool {
		return s.NoteID == noteID && s.StartOffset < p.End && p.Start < s.EndOffset
	})
}

// plainTitle normalizes a title for comparison: lower case, without punctuation. A title of only punctuation is returned unchanged.
func plainTitle(title string) string {
	plain := strings.Join(strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) }), " ")
	if plain == "" {
		return title
	}

	return plain
}
