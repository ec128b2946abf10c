package story

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/agent/quote"
	"tarsy.dev/tarsy/notebook"
)

// notePrompt returns a prompt like the pipeline's, for a note written on a Monday.
func notePrompt(note string) string {
	return "The note was written on Monday, 2026-11-16 (UTC).\n\n" + quote.Block("NOTE", note) + "\n\nExtract the entities of the note."
}

func TestDemoNotesHaveEntitiesOfEveryType(t *testing.T) {
	t.Parallel()

	types := map[notebook.EntityType]int{}

	for i, note := range LoadNotes().Notes {
		answer := extract(notePrompt(note))
		require.Equal(t, i == len(LoadNotes().Notes)-1, len(answer.Entities) == 0, "note %d: %v", i, answer)

		for _, e := range answer.Entities {
			require.Contains(t, note, e.Evidence)
			require.NotEmpty(t, e.Title)
			types[e.Type]++
		}
	}

	for _, kind := range notebook.EntityTypes() {
		require.Positive(t, types[kind], "%s: %v", kind, types)
	}
}

func TestSentencesKeepLineBreaksAndLeaveOutCode(t *testing.T) {
	t.Parallel()

	found := sentences("# Notes from today\n\nAna will fix the\nlogin. Is it urgent?\n- First item is here\n- Second item is\n  longer\n\n```\nmust not be read\n```\n| must | not | be |\n")
	require.Equal(t, []string{"Ana will fix the\nlogin.", "Is it urgent?", "First item is here", "Second item is\n  longer"}, found)
	require.Equal(t, "Ana will fix the login", title(found[0]))
}

func TestOwnerDueDateAndDoubtAreRead(t *testing.T) {
	t.Parallel()

	answer := extract(notePrompt("Ana will raise the limit of cart-cache by Friday. Maybe we should ask @bo to test it by 2026-12-01."))
	require.Len(t, answer.Entities, 2)

	first, second := answer.Entities[0], answer.Entities[1]
	require.Equal(t, "Ana will raise the limit of cart-cache by Friday", first.Title)
	require.Equal(t, []string{"Ana", "2026-11-20", "cart-cache"}, []string{first.Owner, first.DueDate, first.Tags[0]})
	require.InDelta(t, sure, first.Confidence, 0)
	require.Equal(t, []string{"bo", "2026-12-01"}, []string{second.Owner, second.DueDate})
	require.InDelta(t, unsure, second.Confidence, 0)
}

func TestEntityIsFiledWhereItsWordsAre(t *testing.T) {
	t.Parallel()

	projects := `{"project_id":"p1","name":"Checkout","description":"The checkout service","epics":[{"epic_id":"e1","name":"Memory of checkout"}]}
{"project_id":"p2","name":"Platform","description":"Ingress and certificates","epics":[]}`
	entities := []string{
		`{"entity":1,"type":"task","title":"Raise the memory limit of checkout","candidates":[{"candidate_id":"c1","title":"Raise the memory limit of checkout"}]}`,
		`{"entity":2,"type":"task","title":"Renew the certificates of the ingress","candidates":[]}`,
		`{"entity":3,"type":"task","title":"Order pizza","candidates":[]}`,
	}

	answer := organize(fmt.Sprintf("%s\n\n%s", quote.Block("PROJECTS", projects), quote.Block("ENTITIES", strings.Join(entities, "\n"))))
	require.Len(t, answer.Entities, 3)
	require.Equal(t, []string{"p1", "e1", "c1"}, []string{answer.Entities[0].ProjectID, answer.Entities[0].EpicID, answer.Entities[0].DuplicateOf})
	require.Equal(t, []string{"p2", "", ""}, []string{answer.Entities[1].ProjectID, answer.Entities[1].EpicID, answer.Entities[1].DuplicateOf})
	require.Empty(t, answer.Entities[2].ProjectID)
	require.Less(t, answer.Entities[2].Confidence, 0.5)
}
