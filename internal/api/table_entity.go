package api

import (
	"log/slog"
	"net/http"
	"reflect"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/board"
)

// entities manages entities, and the projects, epics and tags under which they are filed.
type entities struct {
	board  *board.Service
	teams  *teamCheck
	clock  clockwork.Clock
	logger *slog.Logger
}

// operations returns the operations of entities, projects, epics and tags.
func (h *entities) operations() []operation {
	return []operation{
		{
			method: http.MethodGet, path: "/api/v1/entities", id: "list-entities", scope: tarsy.ScopeRead,
			summary:     "List and search entities",
			description: "Only accepted entities, unless state is set.",
			handler:     run(h.listEntities),
		},
		{
			method: http.MethodPost, path: "/api/v1/entities", id: "create-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.create", target: "entity"},
			errors:      []tarsy.Code{tarsy.CodeProjectNotFound, tarsy.CodeEpicNotFound, tarsy.CodeSessionNotFound},
			summary:     "Create an entity",
			description: "The entity is accepted, and last in its column of the board.",
			status:      http.StatusCreated, body: required[entityRequest](), handler: run(h.createEntity),
		},
		{
			method: http.MethodGet, path: "/api/v1/entities/{id}", id: "get-entity", scope: tarsy.ScopeRead,
			summary: "Show an entity",
			handler: run(h.getEntity),
		},
		{
			method: http.MethodPatch, path: "/api/v1/entities/{id}", id: "update-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.update", target: "entity"},
			errors:      []tarsy.Code{tarsy.CodeProjectNotFound, tarsy.CodeEpicNotFound},
			summary:     "Change an entity",
			description: "Changes the given fields. Changes by users are kept when the note is processed again.",
			body:        required[entityRequest](), handler: run(h.updateEntity),
		},
		{
			method: http.MethodDelete, path: "/api/v1/entities/{id}", id: "delete-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.delete", target: "entity"},
			summary:     "Delete an entity",
			description: "Its open review items are closed.",
			status:      http.StatusNoContent, handler: run(h.deleteEntity),
		},
		{
			method: http.MethodPost, path: "/api/v1/entities/{id}/move", id: "move-entity", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "entity.move", target: "entity"},
			summary:     "Move an entity on the board",
			description: "Needs no If-Match: of two concurrent moves, the last one wins.",
			body:        required[moveRequest](), handler: run(h.moveEntity),
		},
		{
			method: http.MethodGet, path: "/api/v1/entities/export", id: "export-entities", scope: tarsy.ScopeRead,
			summary:     "Export entities as a file",
			description: "Takes the filters of the list. Newest first, without a limit.",
			handler:     run(h.exportEntities),
			answer:      &answer{of: reflect.TypeFor[entityFile](), media: []string{"text/csv", jsonType, "text/markdown"}},
		},
		{
			method: http.MethodGet, path: "/api/v1/projects", id: "list-projects", scope: tarsy.ScopeRead,
			summary: "List and search projects with their epics",
			handler: run(h.listProjects),
		},
		{
			method: http.MethodPost, path: "/api/v1/projects", id: "create-project", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "project.create", target: "project"},
			errors:  []tarsy.Code{tarsy.CodeNameTaken},
			summary: "Create a project",
			status:  http.StatusCreated, body: required[projectRequest](), handler: run(h.createProject),
		},
		{
			method: http.MethodGet, path: "/api/v1/projects/{id}", id: "get-project", scope: tarsy.ScopeRead,
			summary: "Show a project with its epics",
			handler: run(h.getProject),
		},
		{
			method: http.MethodPatch, path: "/api/v1/projects/{id}", id: "update-project", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "project.update", target: "project"},
			errors:      []tarsy.Code{tarsy.CodeNameTaken},
			summary:     "Change a project",
			description: "Changes the given fields.",
			body:        required[projectRequest](), handler: run(h.updateProject),
		},
		{
			method: http.MethodDelete, path: "/api/v1/projects/{id}", id: "delete-project", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "project.delete", target: "project"},
			summary:     "Delete a project with its epics",
			description: "Its entities are kept without a project. Open review items that would file something under it are closed.",
			status:      http.StatusNoContent, handler: run(h.deleteProject),
		},
		{
			method: http.MethodPost, path: "/api/v1/projects/{id}/epics", id: "create-epic", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "epic.create", target: "epic"},
			errors:  []tarsy.Code{tarsy.CodeNameTaken},
			summary: "Create an epic of a project",
			status:  http.StatusCreated, body: required[epicRequest](), handler: run(h.createEpic),
		},
		{
			method: http.MethodGet, path: "/api/v1/epics/{id}", id: "get-epic", scope: tarsy.ScopeRead,
			summary: "Show an epic",
			handler: run(h.getEpic),
		},
		{
			method: http.MethodPatch, path: "/api/v1/epics/{id}", id: "update-epic", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "epic.update", target: "epic"},
			errors:      []tarsy.Code{tarsy.CodeNameTaken},
			summary:     "Change an epic",
			description: "Changes the given fields.",
			body:        required[epicRequest](), handler: run(h.updateEpic),
		},
		{
			method: http.MethodDelete, path: "/api/v1/epics/{id}", id: "delete-epic", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "epic.delete", target: "epic"},
			summary:     "Delete an epic",
			description: "Its entities are kept in the project. Open review items that would file something under it are closed.",
			status:      http.StatusNoContent, handler: run(h.deleteEpic),
		},
		{
			method: http.MethodGet, path: "/api/v1/tags", id: "list-tags", scope: tarsy.ScopeRead,
			summary:     "List and search tags",
			description: "In alphabetical order, with the number of accepted entities that have each tag.",
			handler:     run(h.listTags),
		},
		{
			method: http.MethodPost, path: "/api/v1/tags", id: "create-tag", scope: tarsy.ScopeWrite,
			audit:       auditAction{name: "tag.create", target: "tag"},
			errors:      []tarsy.Code{tarsy.CodeNameTaken},
			summary:     "Create a tag",
			description: "For a tag that no entity has yet; the tags of an entity are created with it.",
			status:      http.StatusCreated, body: required[tagRequest](), handler: run(h.createTag),
		},
		{
			method: http.MethodPatch, path: "/api/v1/tags/{name}", id: "rename-tag", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "tag.rename", target: "tag"},
			errors:  []tarsy.Code{tarsy.CodeNameTaken},
			summary: "Rename a tag on all entities",
			body:    required[tagRequest](), handler: run(h.renameTag),
		},
		{
			method: http.MethodDelete, path: "/api/v1/tags/{name}", id: "delete-tag", scope: tarsy.ScopeWrite,
			audit:   auditAction{name: "tag.delete", target: "tag"},
			summary: "Remove a tag from all entities",
			status:  http.StatusNoContent, handler: run(h.deleteTag),
		},
	}
}
