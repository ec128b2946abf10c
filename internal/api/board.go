package api

import (
	"context"
	"iter"

	"tarsy.dev/tarsy"
)

// Board reads and changes entities, projects, epics and tags. Its errors for people are *tarsy.Error.
type Board interface {
	Entities
	Projects
	Epics
	Tags
}

// Entities are the operations of entities.
type Entities interface {
	Entities(ctx context.Context, query tarsy.EntityQuery) (tarsy.EntityPage, error)
	Entity(ctx context.Context, id string) (tarsy.EntityDetail, error)
	CreateEntity(ctx context.Context, in tarsy.EntityInput, author string) (tarsy.EntityDetail, error)
	UpdateEntity(ctx context.Context, id string, version int64, in tarsy.EntityInput, author string) (tarsy.EntityDetail, error)
	DeleteEntity(ctx context.Context, id string, version int64, author string) error
	// Export reads all entities that match, newest first, in pieces.
	Export(ctx context.Context, query tarsy.EntityQuery) iter.Seq2[tarsy.EntityExport, error]
	MoveEntity(ctx context.Context, id string, move tarsy.EntityMove, author string) (tarsy.EntityDetail, error)
}

// Projects are the operations of projects.
type Projects interface {
	Projects(ctx context.Context, query tarsy.ProjectQuery) (tarsy.ProjectPage, error)
	Project(ctx context.Context, id string) (tarsy.ProjectDetail, error)
	CreateProject(ctx context.Context, in tarsy.ProjectInput, author string) (tarsy.ProjectDetail, error)
	UpdateProject(ctx context.Context, id string, version int64, in tarsy.ProjectInput, author string) (tarsy.ProjectDetail, error)
	DeleteProject(ctx context.Context, id string, version int64, author string) error
}

// Epics are the operations of epics.
type Epics interface {
	Epic(ctx context.Context, id string) (tarsy.Epic, error)
	CreateEpic(ctx context.Context, projectID string, in tarsy.EpicInput, author string) (tarsy.Epic, error)
	UpdateEpic(ctx context.Context, id string, version int64, in tarsy.EpicInput, author string) (tarsy.Epic, error)
	DeleteEpic(ctx context.Context, id string, version int64, author string) error
}

// Tags are the operations of tags.
type Tags interface {
	Tags(ctx context.Context, query tarsy.TagQuery) (tarsy.TagPage, error)
	CreateTag(ctx context.Context, name, author string) (tarsy.Tag, error)
	RenameTag(ctx context.Context, old, name, author string) (tarsy.Tag, error)
	DeleteTag(ctx context.Context, name, author string) error
}

// rowInput names a row of the board.
type rowInput struct {
	ID string `doc:"The id." path:"id"`
}

// changeInput names a row of the board and the version of it that the person saw.
type changeInput struct {
	ID      string  `doc:"The id."                                                                                  path:"id"`
	IfMatch ifMatch `doc:"The ETag of what is changed. Without it the answer is 428; if it was changed meanwhile, 412." header:"If-Match" required:"true"`
}

// request reads the body of a change and the version that was seen.
func request[T any](ctx context.Context, in *changeInput) (body T, version int64, err error) {
	if version, err = in.IfMatch.version(); err != nil {
		return body, 0, err
	}

	body, err = readRequest[T](callerOf(ctx).body)

	return body, version, err
}

// rowOutput is a row of the board with its version.
type rowOutput[T any] struct {
	ETag string `doc:"The version, for If-Match." header:"ETag"`
	Body T
}

// createdOutput is a new row of the board.
type createdOutput[T any] struct {
	ETag     string `doc:"The version, for If-Match." header:"ETag"`
	Location string `doc:"The new row."               header:"Location"`
	Body     T
}
