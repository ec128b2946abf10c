package board

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Projects lists projects in their order, with their epics and entity counts.
func (s *Service) Projects(ctx context.Context, q notebook.ProjectQuery) (notebook.ProjectPage, error) {
	var page notebook.ProjectPage

	err := s.db.Snapshot(ctx, func(tx store.Querier) error {
		c := &conditions{}
		anyOf(c, "p.status", q.Statuses)

		if q.Search != "" {
			c.add(`(p.name ILIKE ? OR p.description ILIKE ?
				OR EXISTS (SELECT FROM epics e WHERE e.project_id = p.id AND (e.name ILIKE ? OR e.description ILIKE ?)))`, containing(q.Search))
		}

		if err := tx.QueryRow(ctx, `SELECT count(*) FROM projects p `+c.clause(), c.args...).Scan(&page.Total); err != nil {
			return err
		}

		if q.After != nil {
			c.args = append(c.args, q.After.Position, q.After.ID)
			c.where = append(c.where, fmt.Sprintf("(p.position, p.id) > ($%d, $%d)", len(c.args)-1, len(c.args)))
		}

		projects, err := store.Projects(ctx, tx, fmt.Sprintf(`%s ORDER BY p.position, p.id LIMIT %d`, c.clause(), q.Limit+1), c.args...)
		if err != nil {
			return err
		}

		if len(projects) > q.Limit {
			projects = projects[:q.Limit]
			page.Next = &notebook.PlaceCursor{Position: projects[q.Limit-1].Position, ID: projects[q.Limit-1].ID}
		}

		page.Projects, err = withEpics(ctx, tx, projects)

		return err
	})
	if err != nil {
		return notebook.ProjectPage{}, fmt.Errorf("list projects: %w", err)
	}

	return page, nil
}

// containing returns the LIKE pattern that matches texts containing text.
func containing(text string) string {
	return "%" + strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(text) + "%"
}

// Project reads a project with its epics and entity counts.
func (s *Service) Project(ctx context.Context, id string) (notebook.ProjectDetail, error) {
	var found notebook.ProjectDetail

	if err := checkID(id, store.NoProject); err != nil {
		return found, err
	}

	err := s.db.Snapshot(ctx, func(tx store.Querier) (err error) {
		found, err = project(ctx, tx, id)

		return err
	})

	return found, err
}

func project(ctx context.Context, q store.Querier, id string) (notebook.ProjectDetail, error) {
	projects, err := store.Projects(ctx, q, `WHERE p.id = $1`, id)
	if err != nil {
		return notebook.ProjectDetail{}, err
	}

	if len(projects) == 0 {
		return notebook.ProjectDetail{}, store.NoProject(id)
	}

	details, err := withEpics(ctx, q, projects)
	if err != nil {
		return notebook.ProjectDetail{}, err
	}

	return details[0], nil
}

func withEpics(ctx context.Context, q store.Querier, projects []notebook.Project) ([]notebook.ProjectDetail, error) {
	details := make([]notebook.ProjectDetail, len(projects))
	ids := make([]string, len(projects))
	at := make(map[string]*notebook.ProjectDetail, len(projects))

	for i, p := range projects {
		// No epics is an empty list in JSON, not null.
		details[i] = notebook.ProjectDetail{Project: p, Epics: []notebook.Epic{}}
		ids[i], at[p.ID] = p.ID, &details[i]
	}

	epics, err := store.Epics(ctx, q, `WHERE e.project_id = ANY ($1) ORDER BY e.position, e.id`, ids)
	if err != nil {
		return nil, err
	}

	for _, e := range epics {
		at[e.ProjectID].Epics = append(at[e.ProjectID].Epics, e)
	}

	rows, err := q.Query(ctx, `
		SELECT project_id, count(*) FILTER (WHERE status IN ('open', 'in_progress')), count(*)
		FROM entities WHERE project_id = ANY ($1) AND state = 'accepted' GROUP BY project_id`, ids)
	if err != nil {
		return nil, err
	}

	var (
		id          string
		open, total int
	)

	_, err = pgx.ForEachRow(rows, []any{&id, &open, &total}, func() error {
		at[id].OpenCount, at[id].TotalCount = open, total

		return nil
	})

	return details, err
}

// CreateProject stores a new project, at the end unless the input names a neighbour.
func (s *Service) CreateProject(ctx context.Context, in notebook.ProjectInput, author string) (notebook.ProjectDetail, error) {
	created := notebook.ProjectDetail{Epics: []notebook.Epic{}}

	if in.Name == nil {
		return created, tarsy.FieldErrorf(tarsy.CodeMissingField, "name", "name is missing")
	}

	err := s.ordered(ctx, func(tx *store.Tx) error {
		p, err := s.editProject(ctx, tx, notebook.Project{
			ID: ident.New(), Status: notebook.ProjectActive, CreatedBy: author, CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
		}, in)
		if err != nil {
			return err
		}

		_, err = tx.Exec(ctx, `
			INSERT INTO projects (id, name, description, status, position, created_by, created_at, updated_at, version)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
			p.ID, p.Name, p.Description, p.Status, p.Position, p.CreatedBy, p.CreatedAt, p.UpdatedAt, p.Version)
		if err != nil {
			return nameTaken(err, "a project", p.Name)
		}

		created.Project = p

		audit.Target(ctx, p.ID)
		tx.Emit(projectEvent(p, string(p.Status), author))

		return nil
	})

	return created, err
}

// editProject applies a person's input to a project. A project without a position gets one.
func (s *Service) editProject(ctx context.Context, tx *store.Tx, p notebook.Project, in notebook.ProjectInput) (_ notebook.Project, err error) {
	if in.Name != nil {
		if p.Name, err = store.Name("name", *in.Name, store.MaxName, s.mask); err != nil {
			return p, err
		}
	}

	if in.Description != nil {
		if p.Description, err = store.Body("description", *in.Description, maxDescription, s.mask); err != nil {
			return p, err
		}
	}

	if in.Status != nil {
		if p.Status = *in.Status; !slices.Contains(notebook.ProjectStatuses(), p.Status) {
			return p, tarsy.FieldErrorf(tarsy.CodeInvalidField, "status", "status must be active or archived")
		}
	}

	p.Position, err = place{p.ID, p.Position}.move(ctx, tx, projectColumn(), neighbour{in.BeforeID, in.AfterID})

	return p, err
}

// nameTaken turns a unique violation into an error for people.
func nameTaken(err error, what, name string) error {
	if !store.IsTaken(err) {
		return err
	}

	return tarsy.FieldErrorf(tarsy.CodeNameTaken, "name", "there is %s %q already; choose another name", what, name)
}

func projectEvent(p notebook.Project, status, author string) notebook.NotePayload {
	return notebook.NotePayload{Type: notebook.TypeProjectChanged, ProjectID: p.ID, Status: status, Author: author}
}

// lockProject reads and locks a project until the end of the transaction. It fails if the project does not have the given version.
func lockProject(ctx context.Context, tx *store.Tx, id string, version int64) (notebook.Project, error) {
	found, err := store.Projects(ctx, tx, `WHERE p.id = $1 FOR UPDATE`, id)
	if err != nil {
		return notebook.Project{}, err
	}

	if len(found) == 0 {
		return notebook.Project{}, store.NoProject(id)
	}

	return found[0], store.CheckVersion(version, found[0].Version)
}

// UpdateProject changes a project if it still has the given version.
func (s *Service) UpdateProject(ctx context.Context, id string, version int64, in notebook.ProjectInput, author string) (notebook.ProjectDetail, error) {
	var updated notebook.ProjectDetail

	if err := checkID(id, store.NoProject); err != nil {
		return updated, err
	}

	err := s.ordered(ctx, func(tx *store.Tx) error {
		p, err := lockProject(ctx, tx, id, version)
		if err != nil {
			return err
		}

		if p, err = s.editProject(ctx, tx, p, in); err != nil {
			return err
		}

		_, err = tx.Exec(ctx, `UPDATE projects SET name = $2, description = $3, status = $4, position = $5, updated_at = $6, version = version + 1 WHERE id = $1`,
			id, p.Name, p.Description, p.Status, p.Position, tx.Now)
		if err != nil {
			return nameTaken(err, "a project", p.Name)
		}

		tx.Emit(projectEvent(p, string(p.Status), author))

		updated, err = project(ctx, tx, id)

		return err
	})

	return updated, err
}

// DeleteProject deletes a project, with its epics, if it still has the given version. Its entities remain, without a project. Open review
// items that propose to file something under it are closed.
func (s *Service) DeleteProject(ctx context.Context, id string, version int64, author string) error {
	if err := checkID(id, store.NoProject); err != nil {
		return err
	}

	return s.db.Change(ctx, func(tx *store.Tx) error {
		if err := store.CloseReviewItems(ctx, tx, `r.project_id = $1 OR r.proposal->>'assign_project_id' = $1::text`, id); err != nil {
			return err
		}

		if err := refresh(ctx, tx, `project_id = $1`, `project_id = NULL, epic_id = NULL, `, id); err != nil {
			return err
		}

		p, err := lockProject(ctx, tx, id, version)
		if err != nil {
			return err
		}

		// Repeat this for entities that were filed before the project was locked; from here on nothing can be filed under it.
		if err := refresh(ctx, tx, `project_id = $1`, `project_id = NULL, epic_id = NULL, `, id); err != nil {
			return err
		}

		if _, err := tx.Exec(ctx, `DELETE FROM projects WHERE id = $1`, id); err != nil {
			return err
		}

		tx.Emit(projectEvent(p, notebook.StatusDeleted, author))

		return nil
	})
}

// refresh updates entities after a change to something that they refer to. It emits no event per entity: there can be thousands, and
// readers reload after the event of the other change.
func refresh(ctx context.Context, tx *store.Tx, where, set string, arg any) error {
	if _, err := tx.Exec(ctx, `SELECT id FROM entities WHERE `+where+` ORDER BY id FOR UPDATE`, arg); err != nil {
		return err
	}

	_, err := tx.Exec(ctx, `UPDATE entities SET `+set+`updated_at = $2, version = version + 1 WHERE `+where, arg, tx.Now)

	return err
}
