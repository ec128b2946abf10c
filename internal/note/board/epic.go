package board

import (
	"context"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Epic reads an epic.
func (s *Service) Epic(ctx context.Context, id string) (notebook.Epic, error) {
	if err := checkID(id, store.NoEpic); err != nil {
		return notebook.Epic{}, err
	}

	return epic(ctx, s.db.Reader(), id, "")
}

// epic reads an epic. lock is a locking clause, or empty.
func epic(ctx context.Context, q store.Querier, id, lock string) (notebook.Epic, error) {
	found, err := store.Epics(ctx, q, `WHERE e.id = $1 `+lock, id)
	if err != nil {
		return notebook.Epic{}, err
	}

	if len(found) == 0 {
		return notebook.Epic{}, store.NoEpic(id)
	}

	return found[0], nil
}

// CreateEpic stores a new epic of a project, at the end unless the input names a neighbour.
func (s *Service) CreateEpic(ctx context.Context, projectID string, in notebook.EpicInput, author string) (notebook.Epic, error) {
	if err := checkID(projectID, store.NoProject); err != nil {
		return notebook.Epic{}, err
	}

	if in.Name == nil {
		return notebook.Epic{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "name", "name is missing")
	}

	var created notebook.Epic

	err := s.ordered(ctx, func(tx *store.Tx) error {
		projects, err := store.Projects(ctx, tx, `WHERE p.id = $1 FOR KEY SHARE`, projectID)
		if err != nil {
			return err
		}

		if len(projects) == 0 {
			return store.NoProject(projectID)
		}

		created, err = s.editEpic(ctx, tx, notebook.Epic{
			ID: ident.New(), ProjectID: projectID, Status: notebook.EpicOpen, CreatedBy: author, CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
		}, in)
		if err != nil {
			return err
		}

		audit.Target(ctx, created.ID)

		return nameTaken(store.InsertEpic(ctx, tx, created), "an epic", created.Name)
	})

	return created, err
}

// editEpic applies a person's input to an epic. An epic without a position gets one.
func (s *Service) editEpic(ctx context.Context, tx *store.Tx, e notebook.Epic, in notebook.EpicInput) (_ notebook.Epic, err error) {
	if in.Name != nil {
		if e.Name, err = store.Name("name", *in.Name, store.MaxName, s.mask); err != nil {
			return e, err
		}
	}

	if in.Description != nil {
		if e.Description, err = store.Body("description", *in.Description, maxDescription, s.mask); err != nil {
			return e, err
		}
	}

	if in.Status != nil {
		if e.Status = *in.Status; !slices.Contains(notebook.EpicStatuses(), e.Status) {
			return e, tarsy.FieldErrorf(tarsy.CodeInvalidField, "status", "status must be open or done")
		}
	}

	e.Position, err = place{e.ID, e.Position}.move(ctx, tx, epicColumn(e.ProjectID), neighbour{in.BeforeID, in.AfterID})

	return e, err
}

// UpdateEpic changes an epic if it still has the given version.
func (s *Service) UpdateEpic(ctx context.Context, id string, version int64, in notebook.EpicInput, author string) (notebook.Epic, error) {
	if err := checkID(id, store.NoEpic); err != nil {
		return notebook.Epic{}, err
	}

	var updated notebook.Epic

	err := s.ordered(ctx, func(tx *store.Tx) error {
		e, err := epic(ctx, tx, id, "FOR UPDATE")
		if err != nil {
			return err
		}

		if err := store.CheckVersion(version, e.Version); err != nil {
			return err
		}

		if e, err = s.editEpic(ctx, tx, e, in); err != nil {
			return err
		}

		e.Version, e.UpdatedAt = e.Version+1, tx.Now

		_, err = tx.Exec(ctx, `UPDATE epics SET name = $2, description = $3, status = $4, position = $5, updated_at = $6, version = $7 WHERE id = $1`,
			id, e.Name, e.Description, e.Status, e.Position, e.UpdatedAt, e.Version)
		if err != nil {
			return nameTaken(err, "an epic", e.Name)
		}

		tx.Emit(epicEvent(e, string(e.Status), author))

		updated = e

		return nil
	})

	return updated, err
}

func epicEvent(e notebook.Epic, status, author string) notebook.NotePayload {
	return notebook.NotePayload{Type: notebook.TypeEpicChanged, EpicID: e.ID, ProjectID: e.ProjectID, Status: status, Author: author}
}

// DeleteEpic deletes an epic if it still has the given version. Its entities remain in the project. Open review items that propose to file
// an entity under it are closed.
func (s *Service) DeleteEpic(ctx context.Context, id string, version int64, author string) error {
	if err := checkID(id, store.NoEpic); err != nil {
		return err
	}

	return s.db.Change(ctx, func(tx *store.Tx) error {
		if err := store.CloseReviewItems(ctx, tx, `r.proposal->>'assign_epic_id' = $1::text`, id); err != nil {
			return err
		}

		if err := refresh(ctx, tx, `epic_id = $1`, `epic_id = NULL, `, id); err != nil {
			return err
		}

		e, err := epic(ctx, tx, id, "FOR UPDATE")
		if err != nil {
			return err
		}

		if err := store.CheckVersion(version, e.Version); err != nil {
			return err
		}

		// Repeat this for entities that were filed before the epic was locked; from here on nothing can be filed under it.
		if err := refresh(ctx, tx, `epic_id = $1`, `epic_id = NULL, `, id); err != nil {
			return err
		}

		if _, err := tx.Exec(ctx, `DELETE FROM epics WHERE id = $1`, id); err != nil {
			return err
		}

		tx.Emit(epicEvent(e, notebook.StatusDeleted, author))

		return nil
	})
}
