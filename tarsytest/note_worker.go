package tarsytest

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/notebook"
)

// StartWorkers starts background jobs on a server that was booted with Options.WorkersOff.
func (a *App) StartWorkers() {
	a.t.Helper()
	a.app.StartJobs()
}

// PauseQueue keeps all servers from starting jobs of a queue, such as notebook.QueueExtract. Running jobs continue.
func (a *App) PauseQueue(name string) {
	a.t.Helper()
	a.controlQueue(name, "pause")
}

// ResumeQueue undoes PauseQueue.
func (a *App) ResumeQueue(name string) {
	a.t.Helper()
	a.controlQueue(name, "resume")
}

func (a *App) controlQueue(name, action string) {
	a.t.Helper()

	answer := a.Do(http.MethodPost, "/api/v1/queues/"+name+"/"+action, nil)
	require.Less(a.t, answer.Status, http.StatusMultipleChoices, "body: %s", answer.Body)
}

// NoteJobs reads the jobs of a note, newest first.
func (a *App) NoteJobs(noteID string) []notebook.Job {
	a.t.Helper()

	var page struct {
		Jobs []notebook.Job `json:"jobs"`
	}

	a.get("/api/v1/jobs?limit=200", &page)

	var jobs []notebook.Job

	for _, job := range page.Jobs {
		if job.NoteID != nil && *job.NoteID == noteID {
			jobs = append(jobs, job)
		}
	}

	return jobs
}
