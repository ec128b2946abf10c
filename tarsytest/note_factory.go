package tarsytest

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

// User returns the App as a person with an API key of this name, who is the author of all their changes. Without scopes
// they can read and write.
func (a *App) User(name string, scopes ...tarsy.Scope) *App {
	a.t.Helper()

	if len(scopes) == 0 {
		scopes = []tarsy.Scope{tarsy.ScopeWrite}
	}

	user := *a
	user.Token = a.Key(name, scopes...)

	return &user
}

// Project creates a project.
func (a *App) Project(name string) notebook.Project {
	a.t.Helper()

	return create[notebook.Project](a, "/api/v1/projects", map[string]any{"name": name})
}

// Epic creates an epic of a project.
func (a *App) Epic(projectID, name string) notebook.Epic {
	a.t.Helper()

	return create[notebook.Epic](a, "/api/v1/projects/"+projectID+"/epics", map[string]any{"name": name})
}

// Entity creates an entity, as a person does on the board.
func (a *App) Entity(entityType notebook.EntityType, title string) notebook.EntityDetail {
	a.t.Helper()

	return create[notebook.EntityDetail](a, "/api/v1/entities", map[string]any{"type": entityType, "title": title})
}

func create[T any](a *App, path string, body any) T {
	a.t.Helper()

	answer := a.Do(http.MethodPost, path, body)
	require.Equal(a.t, http.StatusCreated, answer.Status, "body: %s", answer.Body)

	var made T

	answer.Decode(a.t, &made)

	return made
}
