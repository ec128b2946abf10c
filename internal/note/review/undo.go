package review

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Undo reverts the last decision on an item and reopens it. It restores the rows that the decision changed, unless they have changed since.
func (s *Service) Undo(ctx context.Context, itemID, author string) (notebook.ReviewDetail, error) {
	err := s.change(ctx, func(tx *store.Tx) error {
		item, err := readItem(ctx, tx, itemID)
		if err != nil {
			return err
		}

		last, err := lastDecision(ctx, tx, itemID)
		if err != nil {
			return err
		}

		u := &undo{tx: tx, author: author, last: last}
		if err := u.lock(ctx, itemID, store.IDText(item.EntityID)); err != nil {
			return err
		}

		return u.run(ctx)
	})
	if err != nil {
		return notebook.ReviewDetail{}, err
	}

	return s.Item(ctx, itemID)
}

// lastDecisionRow is a decision that can be undone.
type lastDecisionRow struct {
	ID        string
	DecidedAt time.Time
	Before    before
	After     after
}

// lastDecision returns the last decision on an item that was not undone, or an empty row.
func lastDecision(ctx context.Context, q store.Querier, itemID string) (lastDecisionRow, error) {
	rows, err := q.Query(ctx, `
		SELECT id, decided_at, before, after FROM review_decisions WHERE item_id = $1 AND undone_at IS NULL ORDER BY decided_at DESC, id DESC LIMIT 1`, itemID)
	if err != nil {
		return lastDecisionRow{}, fmt.Errorf("read the last decision: %w", err)
	}

	last, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByName[lastDecisionRow])
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return last, fmt.Errorf("read the last decision: %w", err)
	}

	return last, nil
}

// undo reverts one decision in a transaction.
type undo struct {
	tx     *store.Tx
	author string
	last   lastDecisionRow

	item     notebook.ReviewItem
	entities map[string]notebook.EntityDetail
	closed   map[string]notebook.ReviewItem
}

// lock locks the rows of the decision in the same order as decisions do, and checks that it can be undone.
func (u *undo) lock(ctx context.Context, itemID, entityID string) error {
	wanted, closed := ids{}, ids{}
	for _, entity := range u.last.Before.Entities {
		wanted.add(entity.ID)
	}

	for _, item := range u.last.Before.Items {
		closed.add(item.ID)
		wanted.add(store.IDText(item.EntityID))
	}

	wanted.add(entityID)

	locked, err := store.LockEntities(ctx, u.tx, wanted.sorted()...)
	if err != nil {
		return fmt.Errorf("lock entities: %w", err)
	}

	u.entities = make(map[string]notebook.EntityDetail, len(locked))
	for _, entity := range locked {
		u.entities[entity.ID] = entity
	}

	if u.item, err = store.LockReviewItem(ctx, u.tx, itemID); err != nil {
		return err
	}

	items, err := store.ReviewItems(ctx, u.tx, `WHERE r.id = ANY($1) ORDER BY r.id FOR UPDATE`, closed.sorted())
	if err != nil {
		return fmt.Errorf("lock review items: %w", err)
	}

	u.closed = make(map[string]notebook.ReviewItem, len(items))
	for _, item := range items {
		u.closed[item.ID] = item
	}

	// Now that the item is locked, its decisions no longer change.
	last, err := lastDecision(ctx, u.tx, itemID)
	if err != nil {
		return err
	}

	switch {
	case u.item.Status == notebook.ReviewOpen:
		return tarsy.Errorf(tarsy.CodeUndoConflict, "the review item is open; there is nothing to undo")
	case last.ID == "":
		return tarsy.Errorf(tarsy.CodeUndoConflict, "this review item was not decided but became obsolete; undo the decision that made it obsolete")
	case last.ID != u.last.ID:
		return errStale
	case u.tx.Now.Sub(last.DecidedAt) > notebook.UndoPeriod:
		return tarsy.Errorf(tarsy.CodeUndoExpired, "the decision was made at %s, and can be undone for %s",
			last.DecidedAt.UTC().Format(time.RFC3339), "an hour")
	default:
		return nil
	}
}

func (u *undo) run(ctx context.Context) error {
	changes, err := u.changes(ctx)
	if err != nil {
		return err
	}

	if len(changes) > 0 {
		return tarsy.Errorf(tarsy.CodeUndoConflict, "the decision cannot be undone: %s", strings.Join(changes, "; "))
	}

	for i, was := range u.last.Before.Entities {
		if err := u.restore(ctx, was, u.last.After.Entities[i]); err != nil {
			return err
		}
	}

	if err := u.removeEpic(ctx); err != nil {
		return err
	}

	for _, item := range u.last.Before.Items {
		// Keep it closed if its own entity has been rejected or merged by another decision.
		if !u.counts(store.IDText(item.EntityID)) {
			continue
		}

		if err := u.reopen(ctx, u.closed[item.ID]); err != nil {
			return err
		}
	}

	if err := u.reopen(ctx, u.item); err != nil {
		return err
	}

	_, err = u.tx.Exec(ctx, `UPDATE review_decisions SET undone_at = $2, undone_by = $3 WHERE id = $1`, u.last.ID, u.tx.Now, u.author)
	if err != nil {
		return fmt.Errorf("record undoing: %w", err)
	}

	return nil
}

// changes lists the changes since the decision.
func (u *undo) changes(ctx context.Context) ([]string, error) {
	var changes []string

	for i, left := range u.last.After.Entities {
		was := u.last.Before.Entities[i]
		present, ok := u.entities[left.ID]

		switch {
		case !ok:
			changes = append(changes, fmt.Sprintf("the entity %q was deleted since", was.Title))
		case present.Version != left.Version || !slices.Equal(present.Tags, left.Tags):
			changes = append(changes, fmt.Sprintf("the entity %q was changed since", present.Title))
		}
	}

	if entity := u.entities[store.IDText(u.item.EntityID)]; !u.counts(entity.ID) {
		changes = append(changes, fmt.Sprintf("the entity %q was %s since", entity.Title, entity.State))
	}

	for _, left := range u.last.After.Items {
		if present, ok := u.closed[left.ID]; !ok || present.Version != left.Version {
			changes = append(changes, fmt.Sprintf("the review item %s was changed since", left.ID))
		}
	}

	missing, err := u.missingPlaces(ctx)
	if err != nil {
		return nil, err
	}

	epic, err := u.epicChanges(ctx)

	return slices.Concat(changes, missing, epic), err
}

// counts reports whether an entity is neither rejected nor merged once the decision is undone.
func (u *undo) counts(entityID string) bool {
	state := u.entities[entityID].State

	for _, was := range u.last.Before.Entities {
		if was.ID == entityID {
			state = was.State
		}
	}

	return state != notebook.EntityRejected && state != notebook.EntityMerged
}

// missingPlaces reports the former projects and epics of the entities that have been deleted since.
func (u *undo) missingPlaces(ctx context.Context) ([]string, error) {
	projects, epics := ids{}, ids{}

	for _, was := range u.last.Before.Entities {
		projects.add(store.IDText(was.ProjectID))
		epics.add(store.IDText(was.EpicID))
	}

	foundProjects, err := store.Projects(ctx, u.tx, `WHERE p.id = ANY($1) FOR KEY SHARE`, projects.sorted())
	if err != nil {
		return nil, fmt.Errorf("read projects: %w", err)
	}

	foundEpics, err := store.Epics(ctx, u.tx, `WHERE e.id = ANY($1) FOR KEY SHARE`, epics.sorted())
	if err != nil {
		return nil, fmt.Errorf("read epics: %w", err)
	}

	var missing []string

	if len(foundProjects) < len(projects) {
		missing = append(missing, "a project that an entity was filed under was deleted since")
	}

	if len(foundEpics) < len(epics) {
		missing = append(missing, "an epic that an entity was filed under was deleted since")
	}

	return missing, nil
}

// epicChanges lists the changes to the epic that the decision created. It keeps the epic locked, so that nothing is filed under it.
func (u *undo) epicChanges(ctx context.Context) ([]string, error) {
	if u.last.After.EpicID == "" {
		return nil, nil
	}

	found, err := store.Epics(ctx, u.tx, `WHERE e.id = $1 FOR UPDATE`, u.last.After.EpicID)
	if err != nil {
		return nil, fmt.Errorf("lock epic: %w", err)
	}

	// The epic is already gone, so there is nothing to remove.
	if len(found) == 0 {
		return nil, nil
	}

	var changes []string

	if found[0].Version != u.last.After.EpicVersion {
		changes = append(changes, fmt.Sprintf("the epic %q was changed since", found[0].Name))
	}

	restored := ids{}
	for _, was := range u.last.Before.Entities {
		restored.add(was.ID)
	}

	var others int

	err = u.tx.QueryRow(ctx, `SELECT count(*) FROM entities WHERE epic_id = $1 AND id <> ALL($2)`, found[0].ID, restored.sorted()).Scan(&others)
	if err != nil {
		return nil, fmt.Errorf("count entities of the epic: %w", err)
	}

	if others > 0 {
		changes = append(changes, fmt.Sprintf("other entities were filed under the epic %q since", found[0].Name))
	}

	return changes, nil
}

// restore restores the previous state of an entity, with a new version.
func (u *undo) restore(ctx context.Context, was notebook.EntityDetail, left entityAfter) error {
	was.Version = left.Version

	stored := store.UpdateEntity(u.tx, was.Entity)

	if !slices.Equal(was.Tags, left.Tags) {
		store.SetTags(u.tx, was.ID, was.Tags)
	}

	for _, source := range left.Added {
		_, err := u.tx.Exec(ctx, `DELETE FROM entity_sources WHERE entity_id = $1 AND note_id = $2 AND start_offset = $3`,
			source.EntityID, source.NoteID, source.StartOffset)
		if err != nil {
			return fmt.Errorf("remove added sources: %w", err)
		}
	}

	u.tx.Emit(store.EntityEvent(notebook.TypeEntityUpdated, stored, u.author))

	return nil
}

// removeEpic removes the epic that the decision created.
func (u *undo) removeEpic(ctx context.Context) error {
	if u.last.After.EpicID == "" {
		return nil
	}

	removed, err := u.tx.Exec(ctx, `DELETE FROM epics WHERE id = $1`, u.last.After.EpicID)
	if err != nil {
		return fmt.Errorf("remove epic: %w", err)
	}

	if removed.RowsAffected() > 0 {
		u.tx.Emit(notebook.NotePayload{
			Type: notebook.TypeEpicChanged, EpicID: u.last.After.EpicID, ProjectID: store.IDText(u.item.ProjectID), Status: notebook.StatusDeleted, Author: u.author,
		})
	}

	return nil
}

func (u *undo) reopen(ctx context.Context, item notebook.ReviewItem) error {
	opened, err := store.ResolveReviewItem(ctx, u.tx, item, notebook.ReviewOpen, "")
	if err != nil {
		return fmt.Errorf("open review item again: %w", err)
	}

	u.tx.Emit(store.ReviewEvent(notebook.TypeReviewReopened, opened, u.author))

	return nil
}
