package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// record returns everything that an investigation leaves behind, except names, ids, times, attempts, and the token counts,
// which depend on the names. The order of what agents did in parallel is sorted.
func (w *world) record(i *investigation) string {
	w.t.Helper()

	normal := w.Normalizer(i.SessionID)

	messages := normal.Messages(w.Messages(i.SessionID))
	for n := range messages {
		messages[n].Content = inAnyOrder(messages[n].Content)
	}

	raw, err := json.MarshalIndent(map[string]any{
		"session": w.Session(i.SessionID), "timeline": normal.Timeline(w.Timeline(i.SessionID)), "messages": messages,
	}, "", "  ")
	require.NoError(w.t, err)

	// The type of the alert, which differs, is part of the fingerprint.
	raw = regexp.MustCompile(`"api:text:\w+"`).ReplaceAll(raw, []byte(`"{FINGERPRINT}"`))

	tries := regexp.MustCompile(`("(?:attempt|\w+_tokens)":\s*)\d+`)
	text := tries.ReplaceAllString(string(normal.Normalize(raw)), "${1}0")

	var journal []string

	order := regexp.MustCompile(`("sequence_number":\s*)\d+`)
	for _, e := range w.Journal(i.SessionID) {
		line := tries.ReplaceAllString(string(normal.Normalize(e.Payload)), "${1}0")
		journal = append(journal, e.Type+" "+order.ReplaceAllString(line, "${1}0"))
	}

	slices.Sort(journal)

	return strings.ReplaceAll(text+"\n"+strings.Join(journal, "\n"), i.id, "{ID}")
}

// requireInvestigation checks what holds for every investigation, whichever servers ran it: everything is completed, and a
// reader has seen a journal that reports each thing once; each LLM call and each tool call was made once, except for those
// that were made again, and tool calls under the id that was recorded before.
func (w *world) requireInvestigation(t *testing.T, i *investigation, calls map[string]int, callsAgain, toolsAgain []string) {
	t.Helper()

	session := w.Session(i.SessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)

	for _, stage := range session.Stages {
		require.Equal(t, tarsy.StatusCompleted, stage.Status, stage.StageName)
	}

	requireSeen(t, i.Socket, requireJournal(t, w.App, i.SessionID))

	asked := maps.Clone(calls)
	for _, name := range callsAgain {
		asked[name]++
	}

	require.Equal(t, asked, i.Asked(), "only what was cut off is asked again")
	require.NotNil(t, session.Verdict, session.VerdictError)

	if i.recipe.verdicts {
		require.Len(t, w.LLMInteractions(i.SessionID), len(calls), "each finished LLM call once")
	} else {
		require.Len(t, scriptedCalls(w.App, i.SessionID), len(calls), "each finished LLM call once")
	}

	var made []deskCall

	for _, interaction := range w.MCPInteractions(i.SessionID) {
		var arguments struct{ By string }

		require.NoError(t, json.Unmarshal(interaction.ToolArguments, &arguments))
		require.Equal(t, tarsy.CallCompleted, interaction.Status)

		made = append(made, deskCall{Tool: toolLook, By: arguments.By, ID: interaction.ID})
		if slices.Contains(toolsAgain, arguments.By) {
			require.Equal(t, 2, interaction.Attempt)
			made = append(made, made[len(made)-1])
		}
	}

	require.ElementsMatch(t, made, i.Desk.Seen(), "only a call that was cut off is made again")
}

// requireSeen checks that a reader saw each entry of a journal once, in order.
func requireSeen(t testing.TB, reader interface{ Events() []tarsytest.Event }, journal []tarsy.Event) {
	t.Helper()

	var want, seen []string

	for _, e := range journal {
		want = append(want, fmt.Sprint(e.Seq, " ", e.Type))
	}

	for _, e := range reader.Events() {
		if e.Seq() > 0 {
			seen = append(seen, fmt.Sprint(e.Seq(), " ", e.Type))
		}
	}

	require.Equal(t, want, seen, "a reader sees each entry once, in order")
}

// requireJournal checks what holds for every journal: it has no gaps, each timeline event is created once and completed
// once, each status is reported once, and the timeline agrees with the journal.
func requireJournal(t testing.TB, app *tarsytest.App, sessionID string) []tarsy.Event {
	t.Helper()

	entries := app.Journal(sessionID)
	reported, created, completed := map[string]int{}, map[string]string{}, map[string]int{}

	for n, entry := range entries {
		require.Equal(t, int64(n+1), entry.Seq, "the journal has no gap")

		var payload struct {
			EventID     string `json:"event_id"`
			StageID     string `json:"stage_id"`
			ExecutionID string `json:"execution_id"`
			Status      string `json:"status"`
		}

		require.NoError(t, json.Unmarshal(entry.Payload, &payload))

		switch entry.Type {
		case tarsy.TypeTimelineCreated:
			require.NotContains(t, created, payload.EventID, "an event is created once")
			created[payload.EventID] = payload.Status
		case tarsy.TypeTimelineCompleted:
			require.Equal(t, "streaming", created[payload.EventID], "only what was begun is completed")
			completed[payload.EventID]++
			require.Equal(t, 1, completed[payload.EventID], "an event is completed once")
		default:
			reported[fmt.Sprint(entry.Type, payload.StageID, payload.ExecutionID, payload.Status)]++
		}
	}

	for what, times := range reported {
		require.Equal(t, 1, times, "%s is reported once", what)
	}

	timeline := app.Timeline(sessionID)
	require.Len(t, timeline, len(created))

	for _, e := range timeline {
		require.Contains(t, created, e.ID)
		require.NotEqual(t, tarsy.EventStreaming, e.Status, "nothing is left streaming")

		if created[e.ID] == "streaming" {
			require.Equal(t, 1, completed[e.ID], "what was begun is completed")
		}
	}

	return entries
}
