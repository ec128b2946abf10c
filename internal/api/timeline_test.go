package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

type timelineBody struct {
	SessionID string               `json:"session_id"`
	Version   int64                `json:"version"`
	Events    []tarsy.TimelineItem `json:"events"`
}

func TestAPreviewShowsTheBeginningOfEventsAndEachCanBeHadInFull(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id, event := f.called(t, strings.Repeat("😀", 400), map[string]any{"query": strings.Repeat("x", 400)})
	address := "/api/v1/sessions/" + id + "/timeline"

	whole := get[timelineBody](t, f, address).Events[0]
	require.Equal(t, tarsy.TimelineItem{TimelineEvent: event, ContentLength: 800}, whole)

	preview := get[timelineBody](t, f, address+"?preview=301").Events[0]
	require.Equal(t, strings.Repeat("😀", 150), preview.Content)
	require.Equal(t, 800, preview.ContentLength)
	require.True(t, preview.Truncated)
	require.JSONEq(t, `{"call": "1.1.1", "server_name": "kubernetes", "tool_name": "get_pods"}`, string(preview.Metadata))

	require.Equal(t, whole, get[timelineBody](t, f, address+"?preview=10000").Events[0])
	require.Equal(t, whole, get[tarsy.TimelineItem](t, f, address+"/"+event.ID))

	other := f.session(t, func(*tarsy.Session) {})

	for _, missing := range []string{id + "/timeline/" + tarsy.NewID(), id + "/timeline/x", other + "/timeline/" + event.ID} {
		f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions/"+missing, ""), http.StatusNotFound, tarsy.CodeEventNotFound)
	}
}
