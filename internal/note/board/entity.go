package board

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Entity reads an entity with its tags and sources.
func (s *Service) Entity(ctx context.Context, id string) (notebook.EntityDetail, error) {
	if err := checkID(id, store.NoEntity); err != nil {
		return notebook.EntityDetail{}, err
	}

	var found notebook.EntityDetail

	err := s.db.Snapshot(ctx, func(q store.Querier) (err error) {
		found, err = store.Entity(ctx, q, id)

		return err
	})

	return found, err
}

// CreateEntity stores an entity that a person wrote. The entity is accepted, and last in its column.
func (s *Service) CreateEntity(ctx context.Context, in notebook.EntityInput, author string) (notebook.EntityDetail, error) {
	if in.Type == nil {
		return notebook.EntityDetail{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "type", "type is missing")
	}

	if in.Title == nil {
		return notebook.EntityDetail{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "title", "title is missing")
	}

	var created notebook.EntityDetail

	err := s.db.Change(ctx, func(tx *store.Tx) error {
		entity, err := store.EditEntity(ctx, tx, notebook.EntityDetail{
			Entity: notebook.Entity{
				ID: ident.New(), Status: notebook.EntityOpen, State: notebook.EntityAccepted, CreatedBy: author, EditedBy: author,
				CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
			},
			Tags: []string{}, Sources: []notebook.EntitySource{},
		}, in, s.mask)
		if err != nil {
			return err
		}

		if entity.Position, err = statusColumn(entity.Status).end(ctx, tx); err != nil {
			return err
		}

		store.InsertEntity(tx, entity)
		audit.Target(ctx, entity.ID)
		tx.Emit(store.EntityEvent(notebook.TypeEntityCreated, entity.Entity, author))

		created = entity

		return nil
	})

	return created, err
}

// UpdateEntity changes an entity if it still has the given version. If its status changes, it is moved to the end of that column.
func (s *Service) UpdateEntity(ctx context.Context, id string, version int64, in notebook.EntityInput, author string) (notebook.EntityDetail, error) {
	if err := checkID(id, store.NoEntity); err != nil {
		return notebook.EntityDetail{}, err
	}

	var updated notebook.EntityDetail

	err := s.db.Change(ctx, func(tx *store.Tx) error {
		seen, err := store.LockEntity(ctx, tx, id)
		if err != nil {
			return err
		}

		if err := store.CheckVersion(version, seen.Version); err != nil {
			return err
		}

		entity, err := store.EditEntity(ctx, tx, seen, in, s.mask)
		if err != nil {
			return err
		}

		if entity.Status != seen.Status {
			if entity.Position, err = statusColumn(entity.Status).end(ctx, tx); err != nil {
				return err
			}
		}

		updated = s.save(tx, entity, in.Tags != nil, author)

		return nil
	})

	return updated, err
}

// save stores an entity that a person changed, with its event.
func (s *Service) save(tx *store.Tx, e notebook.EntityDetail, tags bool, author string) notebook.EntityDetail {
	e.EditedBy = author
	e.Entity = store.UpdateEntity(tx, e.Entity)

	if tags {
		store.SetTags(tx, e.ID, e.Tags)
	}

	tx.Emit(store.EntityEvent(notebook.TypeEntityUpdated, e.Entity, author))

	return e
}

// DeleteEntity deletes an entity if it still has the given version. It closes its open review items and those that name it as a duplicate.
func (s *Service) DeleteEntity(ctx context.Context, id string, version int64, author string) error {
	if err := checkID(id, store.NoEntity); err != nil {
		return err
	}

	return s.db.Change(ctx, func(tx *store.Tx) error {
		// Lock review items before the entity; see the package comment.
		if err := store.CloseReviewItems(ctx, tx, `r.entity_id = $1 OR r.proposal->>'duplicate_of' = $1::text`, id); err != nil {
			return err
		}

		entity, err := store.LockEntity(ctx, tx, id)
		if err != nil {
			return err
		}

		if err := store.CheckVersion(version, entity.Version); err != nil {
			return err
		}

		if _, err := tx.Exec(ctx, `DELETE FROM entities WHERE id = $1`, id); err != nil {
			return err
		}

		tx.Emit(store.EntityEvent(notebook.TypeEntityDeleted, entity.Entity, author))

		return nil
	})
}

// MoveEntity moves an entity on the board. If two people move it concurrently, the last one wins.
func (s *Service) MoveEntity(ctx context.Context, id string, move notebook.EntityMove, author string) (notebook.EntityDetail, error) {
	if err := checkID(id, store.NoEntity); err != nil {
		return notebook.EntityDetail{}, err
	}

	beside := neighbour{move.BeforeID, move.AfterID}

	anchor, _, err := beside.check()
	if err != nil {
		return notebook.EntityDetail{}, err
	}

	if move.Status == nil && move.EpicID == nil && anchor == "" {
		return notebook.EntityDetail{}, tarsy.Errorf(tarsy.CodeMissingField, "nothing to move; send status, epic_id, before_id or after_id")
	}

	var moved notebook.EntityDetail

	err = s.ordered(ctx, func(tx *store.Tx) error {
		seen, err := lockWithAnchor(ctx, tx, id, anchor)
		if err != nil {
			return err
		}

		entity, err := store.EditEntity(ctx, tx, seen, notebook.EntityInput{Status: move.Status, EpicID: move.EpicID}, s.mask)
		if err != nil {
			return err
		}

		switch c := statusColumn(entity.Status); {
		case anchor != "":
			entity.Position, err = beside.find(ctx, tx, c, id)
		case move.Status != nil:
			entity.Position, err = c.end(ctx, tx)
		}

		if err != nil {
			return err
		}

		moved = s.save(tx, entity, false, author)

		return nil
	})

	return moved, err
}

// lockWithAnchor locks an entity and the one that it is placed next to, so that the anchor cannot leave its column.
func lockWithAnchor(ctx context.Context, tx *store.Tx, id, anchor string) (notebook.EntityDetail, error) {
	ids := []string{id}
	if anchor != "" {
		ids = append(ids, anchor)
	}

	locked, err := store.LockEntities(ctx, tx, ids...)
	if err != nil {
		return notebook.EntityDetail{}, err
	}

	for _, entity := range locked {
		if entity.ID == id {
			return entity, nil
		}
	}

	return notebook.EntityDetail{}, store.NoEntity(id)
}
