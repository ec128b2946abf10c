package live_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/client/live"
)

func event[P any](t *testing.T, kind string, payload P) client.Update {
	t.Helper()

	text, err := json.Marshal(payload)
	require.NoError(t, err)

	return client.Update{Event: &tarsy.Event{Type: kind, Payload: text}}
}

func chunk(delta string, offset int, fence int64) client.Update {
	return client.Update{Chunk: &tarsy.StreamChunkPayload{EventID: "text", Delta: delta, Offset: offset, Fence: fence}}
}

func TestStreamedTextMarksLostPiecesAndStartsOverWithFence(t *testing.T) {
	t.Parallel()

	session := live.NewSession(tarsy.SessionDetail{})
	session.Apply(event(t, tarsy.TypeTimelineCreated, tarsy.TimelineCreatedPayload{
		EventID: "text", EventType: tarsy.EventResponse, Status: tarsy.EventStreaming, Content: "the disk",
	}))

	for _, step := range []struct {
		update client.Update
		want   string
	}{
		{chunk(" is full", 8, 0), "the disk is full"},
		{chunk(" is full", 8, 0), "the disk is full"},
		{chunk("db-1", 20, 0), "the disk is full" + live.Gap + "db-1"},
		{chunk("again", 0, 1), "again"},
		{chunk("late", 5, 0), "again"},
	} {
		session.Apply(step.update)
		require.Equal(t, step.want, session.Find("text").Content)
	}

	session.Apply(event(t, tarsy.TypeTimelineCompleted, tarsy.TimelineCompletedPayload{EventID: "text", Status: tarsy.EventCompleted, Content: "all of it"}))
	require.Equal(t, "all of it", session.Find("text").Content)
}

func TestSessionThatIsOverStaysOverWhenItsJournalIsRead(t *testing.T) {
	t.Parallel()

	session := live.NewSession(tarsy.SessionDetail{Session: tarsy.Session{Status: tarsy.SessionCompleted}})
	require.False(t, session.Busy())

	session.Apply(event(t, tarsy.TypeSessionStatus, tarsy.SessionStatusPayload{Status: tarsy.SessionInProgress}))
	require.Equal(t, tarsy.SessionCompleted, session.Status)

	session.Apply(event(t, tarsy.TypeStageStatus, tarsy.StageStatusPayload{StageID: "ask", StageType: tarsy.StageChat, Status: tarsy.StageStarted}))
	require.True(t, session.Busy(), "a question is being answered")
}
