package review

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// before is the previous state of the rows that a decision changed. It is stored in the column of the same name.
type before struct {
	Entities []notebook.EntityDetail `json:"entities,omitempty"`
	// The items that became obsolete. All were open.
	Items []notebook.ReviewItem `json:"items,omitempty"`
}

// after is the state in which a decision left the rows. Any difference from it is a later change by someone else.
type after struct {
	Entities []entityAfter `json:"entities,omitempty"`
	Items    []itemAfter   `json:"items,omitempty"`
	// The epic that was created; empty if none was.
	EpicID      string `json:"epic_id,omitempty"`
	EpicVersion int64  `json:"epic_version,omitempty"`
}

type entityAfter struct {
	ID      string   `json:"id"`
	Version int64    `json:"version"`
	Tags    []string `json:"tags"`
	// Sources that the decision added.
	Added []notebook.EntitySource `json:"added,omitempty"`
}

type itemAfter struct {
	ID      string `json:"id"`
	Version int64  `json:"version"`
}

// update stores a changed entity with its tags, and records its previous state. The person who decides becomes its editor, so that
// reprocessing the note keeps it.
func (d *decision) update(changed notebook.EntityDetail) {
	was := d.entities[changed.ID]
	changed.EditedBy = d.in.Author

	stored := store.UpdateEntity(d.tx, changed.Entity)

	if !slices.Equal(was.Tags, changed.Tags) {
		store.SetTags(d.tx, changed.ID, changed.Tags)
	}

	d.before.Entities = append(d.before.Entities, was)
	d.after.Entities = append(d.after.Entities, entityAfter{
		ID: changed.ID, Version: stored.Version, Tags: changed.Tags, Added: changed.Sources[len(was.Sources):],
	})
	d.tx.Emit(store.EntityEvent(notebook.TypeEntityUpdated, stored, d.in.Author))
}

// closeOthers makes the open items that match the condition on r obsolete, except the decided item itself.
func (d *decision) closeOthers(ctx context.Context, condition string, args ...any) error {
	args = append(args, d.item.ID)

	open, err := store.ReviewItems(ctx, d.tx,
		fmt.Sprintf(`WHERE r.status = 'open' AND r.id <> $%d AND (%s) ORDER BY r.id FOR UPDATE`, len(args), condition), args...)
	if err != nil {
		return fmt.Errorf("look for obsolete review items: %w", err)
	}

	for _, item := range open {
		closed, err := store.ResolveReviewItem(ctx, d.tx, item, notebook.ReviewObsolete, d.in.Author)
		if err != nil {
			return fmt.Errorf("close review item: %w", err)
		}

		d.before.Items = append(d.before.Items, item)
		d.after.Items = append(d.after.Items, itemAfter{ID: closed.ID, Version: closed.Version})
		d.tx.Emit(store.ReviewEvent(notebook.TypeReviewResolved, closed, d.in.Author))
	}

	return nil
}

// record stores the decision, its author, and the data needed to undo it.
func (d *decision) record(ctx context.Context) error {
	_, err := d.tx.Exec(ctx, `
		INSERT INTO review_decisions (id, item_id, decision, author, reason, decided_at, before, after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		ident.New(), d.item.ID, d.in.Decision, d.in.Author, d.in.Reason, d.tx.Now, d.before, d.after)
	if err != nil {
		return fmt.Errorf("record decision: %w", err)
	}

	return nil
}

func sortedIDs(entities map[string]notebook.EntityDetail) []string {
	return slices.Sorted(maps.Keys(entities))
}
