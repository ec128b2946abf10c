package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/demo/story"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// The demo's notes show the whole way from text to filed work: entities of every type, a note without any, an entity that a
// person must review, and a duplicate.
func TestDemoNotesBecomeFiledWork(t *testing.T) {
	t.Parallel()

	a := tarsytest.New(t, tarsytest.Options{LLM: story.Client(script.Pace{})})
	notes := story.LoadNotes()

	for _, p := range notes.Projects {
		var project notebook.Project

		created := a.Do(http.MethodPost, "/api/v1/projects", map[string]string{"name": p.Name, "description": p.Description})
		require.Equal(t, http.StatusCreated, created.Status)
		created.Decode(t, &project)

		for _, e := range p.Epics {
			created := a.Do(http.MethodPost, "/api/v1/projects/"+project.ID+"/epics", map[string]string{"name": e.Name, "description": e.Description})
			require.Equal(t, http.StatusCreated, created.Status)
		}
	}

	var (
		entities []notebook.EntityDetail
		reviews  = map[notebook.ReviewKind]int{}
	)

	for _, text := range notes.Notes {
		detail := captured(t, a, text)
		require.Empty(t, detail.ProcessingError)

		entities = append(entities, detail.Entities...)

		for _, item := range detail.ReviewItems {
			reviews[item.Kind]++
		}
	}

	types, filed := map[notebook.EntityType]int{}, 0

	for _, e := range entities {
		types[e.Type]++

		if e.EpicID != nil {
			filed++
		}
	}

	require.Len(t, types, len(notebook.EntityTypes()), "%v", types)
	require.Greater(t, filed, len(entities)/2)
	require.Equal(t, 1, reviews[notebook.ReviewEntity])
	require.Equal(t, 1, reviews[notebook.ReviewDuplicate])
}

// captured captures a note and returns it once it is done.
func captured(t *testing.T, a *tarsytest.App, text string) notebook.NoteDetail {
	t.Helper()

	var created struct {
		Note notebook.Note `json:"note"`
	}

	response := a.Do(http.MethodPost, "/api/v1/notes", map[string]string{"content": text, "source": "cli"})
	require.Equal(t, http.StatusCreated, response.Status)
	response.Decode(t, &created)

	var detail notebook.NoteDetail

	a.WaitAnswer("/api/v1/notes/"+created.Note.ID, "the note is done", func(r tarsytest.Response) bool {
		return json.Unmarshal(r.Body, &detail) == nil && detail.Status == notebook.NoteDone
	})

	return detail
}
