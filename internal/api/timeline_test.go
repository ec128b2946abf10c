package api_test

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/progress"
)

type timelineBody struct {
	SessionID string               `json:"session_id"`
	Version   int64                `json:"version"`
	Events    []tarsy.TimelineItem `json:"events"`

	NextCursor string `json:"next_cursor"`
}

func TestPreviewTruncatesEventsAndEachIsAvailableInFull(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id, event := f.called(t, strings.Repeat("😀", 400), map[string]any{"query": strings.Repeat("x", 400)})
	address := "/api/v1/sessions/" + id + "/timeline"

	whole := get[timelineBody](t, f, address).Events[0]
	require.Equal(t, tarsy.TimelineItem{TimelineEvent: event, ContentLength: 800}, whole)

	preview := get[timelineBody](t, f, address+"?preview=301").Events[0]
	require.Equal(t, strings.Repeat("😀", 32)+"\n[cut: about 499 of 800 characters left out]\n"+strings.Repeat("😀", 32), preview.Content)
	require.Equal(t, 800, preview.ContentLength)
	require.True(t, preview.Truncated)
	require.JSONEq(t, `{"call": "1.1.1", "server_name": "kubernetes", "tool_name": "get_pods"}`, string(preview.Metadata))

	require.Equal(t, whole, get[timelineBody](t, f, address+"?preview=10000").Events[0])
	require.Equal(t, whole, get[tarsy.TimelineItem](t, f, address+"/"+event.ID))

	other := f.session(t, func(*tarsy.Session) {})

	for _, missing := range []string{id + "/timeline/" + ident.New(), id + "/timeline/x", other + "/timeline/" + event.ID} {
		f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/sessions/"+missing, ""), http.StatusNotFound, tarsy.CodeEventNotFound)
	}
}

func TestTimelinePagesFollowTheirCursor(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	claim := f.heldSession(t)

	var step progress.Step
	for i := range 5 {
		step.Timeline = append(step.Timeline, tarsy.TimelineEvent{
			ID: ident.New(), SessionID: claim.SessionID, SequenceNumber: int64(i + 1), EventType: tarsy.EventResponse,
			Status: tarsy.EventCompleted, Content: "text", CreatedAt: f.clock.Now(), UpdatedAt: f.clock.Now(),
		})
	}

	_, err := f.db.Hold(claim.Lease).Commit(t.Context(), step)
	require.NoError(t, err)

	var numbers []int64

	for query := "?limit=2"; query != ""; {
		page := get[timelineBody](t, f, "/api/v1/sessions/"+claim.SessionID+"/timeline"+query)
		require.LessOrEqual(t, len(page.Events), 2)

		for _, e := range page.Events {
			numbers = append(numbers, e.SequenceNumber)
		}

		query = ""
		if page.NextCursor != "" {
			query = "?limit=2&cursor=" + page.NextCursor
		}
	}

	require.Equal(t, []int64{1, 2, 3, 4, 5}, numbers)
}

func TestTracePagesFollowTheirCursor(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	id := f.traced(t).id

	type tracePage struct {
		tarsy.Trace

		NextCursor string `json:"next_cursor"`
	}

	trace := "/api/v1/sessions/" + id + "/trace"
	whole := get[tracePage](t, f, trace)
	require.Empty(t, whole.NextCursor)

	var (
		got   *tarsy.Trace
		pages int
	)

	for query := "?limit=4"; query != ""; pages++ {
		page := get[tracePage](t, f, trace+query)

		if got == nil {
			got = &page.Trace
		} else {
			got.Append(page.Trace)
		}

		query = ""
		if page.NextCursor != "" {
			query = "?limit=4&cursor=" + page.NextCursor
		}
	}

	require.Equal(t, 2, pages, "four LLM calls and two tool calls")
	require.Equal(t, whole.Trace, *got)

	timeline := "/api/v1/sessions/" + id + "/timeline"
	require.Empty(t, get[timelineBody](t, f, timeline).NextCursor)

	for _, address := range []string{trace, timeline} {
		for _, cursor := range []string{"!!", "e30", base64.RawURLEncoding.EncodeToString([]byte(`{"n":0}`)), base64.RawURLEncoding.EncodeToString([]byte(`{"x":1}`))} {
			f.requireProblem(t, f.request(t, http.MethodGet, address+"?cursor="+cursor, ""), http.StatusBadRequest, tarsy.CodeInvalidCursor)
		}
	}
}
