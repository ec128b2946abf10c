package tarsytest

import (
	"net/http"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// Ask asks a question about a finished session, and returns it with the ids that the server assigned.
func (a *App) Ask(sessionID, question string) tarsy.Question {
	a.t.Helper()

	resp := a.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/chat/messages", map[string]any{"content": question})
	require.Equal(a.t, http.StatusAccepted, resp.Status, "body: %s", resp.Body)

	asked := tarsy.Question{Content: question}
	resp.Decode(a.t, &asked)

	return asked
}

// Answer asks a question, waits until the stage that answers it has ended, and returns that stage.
func (a *App) Answer(sessionID, question string) tarsy.StageDetail {
	a.t.Helper()

	return a.WaitStage(sessionID, a.Ask(sessionID, question).StageID)
}

// WaitStage waits until a stage has ended, and returns it.
func (a *App) WaitStage(sessionID, stageID string) tarsy.StageDetail {
	a.t.Helper()

	socket := a.Watch(sessionID)
	defer socket.Close()

	socket.WaitStage(stageID)

	for _, stage := range a.Session(sessionID).Stages {
		if stage.ID == stageID {
			return stage
		}
	}

	require.FailNow(a.t, "the session has no stage "+stageID)

	return tarsy.StageDetail{}
}

// WaitStage waits for the event that reports the end of a stage.
func (l *log) WaitStage(stageID string) Event {
	l.t.Helper()

	return l.Wait("the end of stage "+stageID, func(e Event) bool {
		return e.Type == tarsy.TypeStageStatus && e.Fields["stage_id"] == stageID && e.Fields["status"] != tarsy.StageStarted
	})
}
