package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

// projectRequest is the body that creates or changes a project.
type projectRequest struct {
	Name        *string                 `doc:"Required to create a project. Unique, ignoring case."                          json:"name,omitempty"        maxLength:"200" minLength:"1"`
	Description *string                 `doc:"Read by the model that files entities."                                       json:"description,omitempty" maxLength:"20000"`
	Status      *notebook.ProjectStatus `doc:"The pipeline files nothing under an archived project."                        json:"status,omitempty"`
	BeforeID    string                  `doc:"The project to place it directly before."                                     json:"before_id,omitempty"`
	AfterID     string                  `doc:"The project to place it directly after. Without either, it stays where it is." json:"after_id,omitempty"`
}

// epicRequest is the body that creates or changes an epic.
type epicRequest struct {
	Name        *string              `doc:"Required to create an epic. Unique in the project, ignoring case."                json:"name,omitempty"        maxLength:"200" minLength:"1"`
	Description *string              `doc:"Read by the model that files entities."                                          json:"description,omitempty" maxLength:"20000"`
	Status      *notebook.EpicStatus `doc:"The pipeline files nothing under an epic that is done."                          json:"status,omitempty"`
	BeforeID    string               `doc:"The epic of the project to place it directly before."                            json:"before_id,omitempty"`
	AfterID     string               `doc:"The epic of the project to place it directly after. Without either, it stays where it is." json:"after_id,omitempty"`
}

type projectsInput struct {
	Statuses string  `doc:"Statuses, separated by commas: active, archived."                           query:"status"`
	Search   search  `doc:"Part of the name or description of the project or of one of its epics."     query:"q"`
	Limit    integer `doc:"Maximum number of projects per page."                                       query:"limit"`
	Cursor   cursor  `doc:"The next_cursor of the previous page."                                      query:"cursor"`
}

type projectsOutput struct{ Body projectList }

type projectList struct {
	Projects   []notebook.ProjectDetail `json:"projects"`
	NextCursor string                   `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
	Total      int                      `doc:"Number of projects that match, over all pages." json:"total"`
}

func (h *entities) listProjects(ctx context.Context, in *projectsInput) (*projectsOutput, error) {
	var query notebook.ProjectQuery

	err := readParameters(in, &query)
	if err != nil {
		return nil, err
	}

	query.After, err = readCursor(in.Cursor, func(place notebook.PlaceCursor) bool { return ident.Valid(place.ID) })
	if err != nil {
		return nil, err
	}

	page, err := h.board.Projects(ctx, query)
	if err != nil {
		return nil, err
	}

	out := &projectsOutput{Body: projectList{Projects: page.Projects, Total: page.Total}}

	if page.Next != nil {
		out.Body.NextCursor, err = encodeCursor(*page.Next)
	}

	return out, err
}

func (h *entities) createProject(ctx context.Context, _ *struct{}) (*createdOutput[notebook.ProjectDetail], error) {
	who := callerOf(ctx)

	body, err := readRequest[projectRequest](who.body)
	if err != nil {
		return nil, err
	}

	project, err := h.board.CreateProject(ctx, notebook.ProjectInput(body), who.author)
	if err != nil {
		return nil, fmt.Errorf("create project: %w", err)
	}

	return &createdOutput[notebook.ProjectDetail]{ETag: etag(project.Version), Location: "/api/v1/projects/" + project.ID, Body: project}, nil
}

func (h *entities) getProject(ctx context.Context, in *rowInput) (*rowOutput[notebook.ProjectDetail], error) {
	project, err := h.board.Project(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show project: %w", err)
	}

	return &rowOutput[notebook.ProjectDetail]{ETag: etag(project.Version), Body: project}, nil
}

func (h *entities) updateProject(ctx context.Context, in *changeInput) (*rowOutput[notebook.ProjectDetail], error) {
	body, version, err := request[projectRequest](ctx, in)
	if err != nil {
		return nil, err
	}

	project, err := h.board.UpdateProject(ctx, in.ID, version, notebook.ProjectInput(body), callerOf(ctx).author)
	if err != nil {
		return nil, fmt.Errorf("change project: %w", err)
	}

	return &rowOutput[notebook.ProjectDetail]{ETag: etag(project.Version), Body: project}, nil
}

func (h *entities) deleteProject(ctx context.Context, in *changeInput) (*noContent, error) {
	version, err := in.IfMatch.version()
	if err != nil {
		return nil, err
	}

	if err := h.board.DeleteProject(ctx, in.ID, version, callerOf(ctx).author); err != nil {
		return nil, fmt.Errorf("delete project: %w", err)
	}

	return &noContent{}, nil
}

func (h *entities) createEpic(ctx context.Context, in *rowInput) (*createdOutput[notebook.Epic], error) {
	who := callerOf(ctx)

	body, err := readRequest[epicRequest](who.body)
	if err != nil {
		return nil, err
	}

	epic, err := h.board.CreateEpic(ctx, in.ID, notebook.EpicInput(body), who.author)
	if err != nil {
		return nil, fmt.Errorf("create epic: %w", err)
	}

	return &createdOutput[notebook.Epic]{ETag: etag(epic.Version), Location: "/api/v1/epics/" + epic.ID, Body: epic}, nil
}

func (h *entities) getEpic(ctx context.Context, in *rowInput) (*rowOutput[notebook.Epic], error) {
	epic, err := h.board.Epic(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show epic: %w", err)
	}

	return &rowOutput[notebook.Epic]{ETag: etag(epic.Version), Body: epic}, nil
}

func (h *entities) updateEpic(ctx context.Context, in *changeInput) (*rowOutput[notebook.Epic], error) {
	body, version, err := request[epicRequest](ctx, in)
	if err != nil {
		return nil, err
	}

	epic, err := h.board.UpdateEpic(ctx, in.ID, version, notebook.EpicInput(body), callerOf(ctx).author)
	if err != nil {
		return nil, fmt.Errorf("change epic: %w", err)
	}

	return &rowOutput[notebook.Epic]{ETag: etag(epic.Version), Body: epic}, nil
}

func (h *entities) deleteEpic(ctx context.Context, in *changeInput) (*noContent, error) {
	version, err := in.IfMatch.version()
	if err != nil {
		return nil, err
	}

	if err := h.board.DeleteEpic(ctx, in.ID, version, callerOf(ctx).author); err != nil {
		return nil, fmt.Errorf("delete epic: %w", err)
	}

	return &noContent{}, nil
}
