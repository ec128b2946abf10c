package e2e

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// story is everything that is left of a quest, but for names, ids, times, how often a call was tried, and how many tokens
// the names had. What agents did at once is told one after the other.
func (w *world) story(q *quest) string {
	w.t.Helper()

	n := w.Normalizer(q.SessionID)

	messages := n.Messages(w.Messages(q.SessionID))
	for i := range messages {
		messages[i].Content = inAnyOrder(messages[i].Content)
	}

	raw, err := json.MarshalIndent(map[string]any{
		"session": w.Session(q.SessionID), "timeline": n.Timeline(w.Timeline(q.SessionID)), "messages": messages,
	}, "", "  ")
	require.NoError(w.t, err)

	tries := regexp.MustCompile(`("(?:attempt|\w+_tokens)":\s*)\d+`)
	text := tries.ReplaceAllString(string(n.Normalize(raw)), "${1}0")

	var journal []string

	order := regexp.MustCompile(`("sequence_number":\s*)\d+`)
	for _, e := range w.Journal(q.SessionID) {
		line := tries.ReplaceAllString(string(n.Normalize(e.Payload)), "${1}0")
		journal = append(journal, e.Type+" "+order.ReplaceAllString(line, "${1}0"))
	}

	slices.Sort(journal)

	return strings.ReplaceAll(text+"\n"+strings.Join(journal, "\n"), q.id, "{QUEST}")
}

// requireQuest checks what holds for every quest, whoever worked on it: all is completed, and a reader has seen a journal
// that tells each thing once; each LLM call was made once, but for some that were made again, and so was each call of
// the tool, under the id that it was written down with.
func (w *world) requireQuest(t *testing.T, q *quest, calls map[string]int, callsAgain, toolsAgain []string) {
	t.Helper()

	session := w.Session(q.SessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)

	for _, stage := range session.Stages {
		require.Equal(t, tarsy.StatusCompleted, stage.Status, stage.StageName)
	}

	requireSeen(t, q.Socket, requireJournal(t, w.App, q.SessionID))

	asked := maps.Clone(calls)
	for _, name := range callsAgain {
		asked[name]++
	}

	require.Equal(t, asked, q.Asked(), "only what was cut off is asked again")
	require.Len(t, w.LLMInteractions(q.SessionID), len(calls), "each finished LLM call once")

	var made []boxCall

	for _, interaction := range w.MCPInteractions(q.SessionID) {
		var arguments struct{ By string }

		require.NoError(t, json.Unmarshal(interaction.ToolArguments, &arguments))
		require.Equal(t, tarsy.CallCompleted, interaction.Status)

		made = append(made, boxCall{By: arguments.By, ID: interaction.ID})
		if slices.Contains(toolsAgain, arguments.By) {
			require.Equal(t, 2, interaction.Attempt)
			made = append(made, made[len(made)-1])
		}
	}

	require.ElementsMatch(t, made, q.Tools.Seen(), "only a call that was cut off is made again")
}
