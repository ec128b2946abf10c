package store

import (
	"context"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// NoProject is the error for a project that does not exist.
func NoProject(id string) error {
	return tarsy.Errorf(tarsy.CodeProjectNotFound, "there is no project %s", id)
}

// NoEpic is the error for an epic that does not exist.
func NoEpic(id string) error { return tarsy.Errorf(tarsy.CodeEpicNotFound, "there is no epic %s", id) }

// Projects reads projects. rest follows FROM projects p.
func Projects(ctx context.Context, q Querier, rest string, args ...any) ([]notebook.Project, error) {
	return collect[notebook.Project](ctx, q, `SELECT `+postgres.ColumnsOf[notebook.Project]().Of("p")+` FROM projects p `+rest, args...)
}

// Epics reads epics. rest follows FROM epics e.
func Epics(ctx context.Context, q Querier, rest string, args ...any) ([]notebook.Epic, error) {
	return collect[notebook.Epic](ctx, q, `SELECT `+postgres.ColumnsOf[notebook.Epic]().Of("e")+` FROM epics e `+rest, args...)
}

// InsertEpic stores a new epic and emits its event. If the name exists in the project, IsTaken reports true for the error.
func InsertEpic(ctx context.Context, tx *Tx, e notebook.Epic) error {
	_, err := tx.Exec(ctx, `
		INSERT INTO epics (id, project_id, name, description, status, position, created_by, created_at, updated_at, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
		e.ID, e.ProjectID, e.Name, e.Description, e.Status, e.Position, e.CreatedBy, e.CreatedAt, e.UpdatedAt, e.Version)
	if err != nil {
		return err
	}

	tx.Emit(notebook.NotePayload{Type: notebook.TypeEpicChanged, EpicID: e.ID, ProjectID: e.ProjectID, Status: string(e.Status), Author: e.CreatedBy})

	return nil
}
