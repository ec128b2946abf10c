package note_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

func TestExtractStoresEntitiesTagsAndSourcesWithTheirEvents(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("🔥 Postmortem.\nAna fixes the\n  login bug by Friday. We decided to drop Safari 12.")

	fix := task("Fix the login bug", "Ana fixes the login bug by Friday")
	fix.Content, fix.Owner, fix.DueDate, fix.Tags = "It happens on Safari.", "Ana", "2026-11-20", []string{"Safari", "login", "safari"}
	p.extractionAnswers(fix, infer.EntityAnswer{
		Type: notebook.EntityDecision, Title: "Drop Safari 12", Tags: []string{}, Evidence: "We decided to drop Safari 12.", Confidence: 1,
	})

	waiting := p.extract(n.ID, 1)
	require.Len(t, waiting, 2)

	stored := p.entity(waiting[0].ID)
	require.Equal(t, notebook.EntityTask, stored.Type)
	require.Equal(t, "Fix the login bug", stored.Title)
	require.Equal(t, "It happens on Safari.", stored.Content)
	require.Equal(t, "Ana", stored.Owner)
	require.Equal(t, "2026-11-20", stored.DueOn.String())
	require.Equal(t, notebook.EntityAccepted, stored.State)
	require.Equal(t, notebook.EntityOpen, stored.Status)
	require.Equal(t, []string{"login", "safari"}, stored.Tags)
	require.InDelta(t, 0.9, *stored.Confidence, 0)
	require.Equal(t, n.ID, *stored.NoteID)
	require.Equal(t, int64(1), stored.NoteVersion)
	require.Equal(t, "tarsy", stored.CreatedBy)
	require.Empty(t, stored.EditedBy)
	require.Nil(t, stored.OrganizedAt)
	// The quote is taken from the note, and the emoji counts as two UTF-16 units.
	require.Equal(t, []notebook.EntitySource{{
		EntityID: stored.ID, NoteID: n.ID, Quote: "Ana fixes the\n  login bug by Friday", StartOffset: 15, EndOffset: 50,
	}}, stored.Sources)

	decision := p.entity(waiting[1].ID)
	require.Equal(t, notebook.EntityDecision, decision.Type)
	require.InDelta(t, store.PositionAt(captured), decision.Position, 0)
	require.Greater(t, decision.ID, stored.ID)

	processed := p.note(n.ID)
	require.Equal(t, notebook.NoteExtracted, processed.Status)
	require.True(t, processed.Processed)
	require.Equal(t, 2, processed.EntityCount)
	require.Empty(t, p.reviews())

	events := p.events(3)
	require.Equal(t, []string{notebook.TypeEntityCreated, notebook.TypeEntityCreated, notebook.TypeNoteProcessed}, eventTypes(events))
	require.Equal(t, stored.ID, events[0].EntityID)
	require.Equal(t, 2, events[2].EntityCount)
	require.Equal(t, string(notebook.NoteExtracted), events[2].Status)
}

func TestExtractWithoutEntitiesFinishesNote(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("random gibberish")
	p.extractionAnswers()

	require.Empty(t, p.extract(n.ID, 1))

	processed := p.note(n.ID)
	require.Equal(t, notebook.NoteDone, processed.Status)
	require.True(t, processed.Processed)
	require.NotNil(t, processed.ProcessedAt)
	require.Equal(t, []string{notebook.TypeNoteProcessed}, eventTypes(p.events(1)))
}

func TestExtractProposesEntityOfLowConfidence(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Maybe the disk is full. Check the disk.")

	unsure, sure := task("Look at the disk", "Maybe the disk is full"), task("Check the disk", "Check the disk")
	unsure.Confidence, sure.Confidence = 0.69, 0.7
	p.extractionAnswers(unsure, sure)

	waiting := p.extract(n.ID, 1)
	require.Equal(t, notebook.EntityProposed, p.entity(waiting[0].ID).State)
	require.Equal(t, notebook.EntityAccepted, p.entity(waiting[1].ID).State)

	items := p.reviews()
	require.Len(t, items, 1)
	require.Equal(t, notebook.ReviewEntity, items[0].Kind)
	require.Equal(t, notebook.ReviewOpen, items[0].Status)
	require.Equal(t, waiting[0].ID, *items[0].EntityID)
	require.Equal(t, n.ID, *items[0].NoteID)
	require.InDelta(t, 0.69, *items[0].Confidence, 0)
	require.Contains(t, items[0].Reason, "0.69")
	require.Equal(t, []string{notebook.TypeEntityCreated, notebook.TypeReviewCreated, notebook.TypeEntityCreated, notebook.TypeNoteProcessed}, eventTypes(p.events(4)))
}

func TestExtractUsesConfiguredConfidence(t *testing.T) {
	p := newProcessing(t)
	p.Confidence = 0.95

	_, waiting := p.extracted("Check the disk.", task("Check the disk", "Check the disk."))
	require.Equal(t, notebook.EntityProposed, waiting[0].State)
}

func TestExtractProposesEntityWithoutEvidence(t *testing.T) {
	for name, evidence := range map[string]string{"other words": "Restart the database", "no words": " "} {
		t.Run(name, func(t *testing.T) {
			p := newProcessing(t)
			_, waiting := p.extracted("Check the disk.", task("Restart the database", evidence))

			stored := p.entity(waiting[0].ID)
			require.Equal(t, notebook.EntityProposed, stored.State)
			require.Empty(t, stored.Sources)
			require.InDelta(t, 0.3, *stored.Confidence, 0)

			items := p.reviews()
			require.Len(t, items, 1)
			require.Contains(t, items[0].Reason, "do not occur in the note")
			require.Contains(t, items[0].Reason, strings.TrimSpace(evidence))
		})
	}
}

func TestExtractSchemaErrorStoresNothing(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Check the disk.")
	p.script.Route(infer.AgentExtract, script.Reply{Text: `{"entities":[{"type":"chore"}]}`})

	err := p.Extract(p.Context(), n.ID, 1, func(*store.Tx, []notebook.EntityDetail) error { return errors.New("finish must not run") })
	require.ErrorIs(t, err, structured.ErrSchema)
	require.True(t, note.Permanent(err))
	require.Equal(t, notebook.NoteQueued, p.note(n.ID).Status)
	require.Empty(t, p.titles())

	require.NoError(t, p.Fail(t.Context(), n.ID, 1, err, true))

	failed := p.note(n.ID)
	require.Equal(t, notebook.NoteFailed, failed.Status)
	require.Contains(t, failed.ProcessingError, "does not fit the schema")
	require.False(t, failed.Processed)

	events := p.events(1)
	require.Equal(t, notebook.TypeNoteFailed, events[0].Type)
	require.Equal(t, failed.ProcessingError, events[0].Error)

	// Someone retries the job: the same version is processed.
	p.extractionAnswers(task("Check the disk", "Check the disk."))
	require.Len(t, p.extract(n.ID, 1), 1)
	require.Equal(t, notebook.NoteExtracted, p.note(n.ID).Status)
	require.Empty(t, p.note(n.ID).ProcessingError)
}

func TestExtractReturnsFailureOfModel(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Check the disk.")
	overloaded := &llm.Error{Class: llm.ClassTransient, Retryable: true, Message: "the model is overloaded"}
	p.script.Route(infer.AgentExtract, script.Reply{Err: overloaded})

	err := p.Extract(p.Context(), n.ID, 1, func(*store.Tx, []notebook.EntityDetail) error { return errors.New("finish must not run") })
	require.ErrorIs(t, err, overloaded)
	require.False(t, note.Permanent(err))

	require.NoError(t, p.Fail(t.Context(), n.ID, 1, err, false))

	waiting := p.note(n.ID)
	require.Equal(t, notebook.NoteQueued, waiting.Status)
	require.Contains(t, waiting.ProcessingError, "the model is overloaded")
	require.Equal(t, []string{notebook.TypeNoteRequeued}, eventTypes(p.events(1)))

	p.extractionAnswers(task("Check the disk", "Check the disk."))
	require.Len(t, p.extract(n.ID, 1), 1)
	require.Empty(t, p.note(n.ID).ProcessingError)
}

func TestRefusalOfProviderIsPermanent(t *testing.T) {
	t.Parallel()

	require.True(t, note.Permanent(fmt.Errorf("extract: %w", &llm.Error{Class: llm.ClassSafety})))
	require.True(t, note.Permanent(&llm.Error{Class: llm.ClassContextTooLong}))
	require.False(t, note.Permanent(&llm.Error{Class: llm.ClassAuth}))
	require.False(t, note.Permanent(errors.New("connection reset")))
}

func TestInternalErrorsAreNotShownOnNote(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Check the disk.")

	require.NoError(t, p.Fail(t.Context(), n.ID, 1, errors.New("pq: relation entities does not exist"), true))
	require.NotContains(t, p.note(n.ID).ProcessingError, "relation")
}

func TestFinishOfExtractFailsWholeTransaction(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Check the disk.")
	p.extractionAnswers(task("Check the disk", "Check the disk."))

	failure := errors.New("the job cannot be completed")
	err := p.Extract(p.Context(), n.ID, 1, func(*store.Tx, []notebook.EntityDetail) error { return failure })
	require.ErrorIs(t, err, failure)
	require.Empty(t, p.titles())
	require.Equal(t, notebook.NoteQueued, p.note(n.ID).Status)
}

func TestExtractLeavesOtherVersionsAlone(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Check the disk.")
	version := p.requeue(n.ID)

	// The model is not called.
	require.Empty(t, p.extract(n.ID, 1))
	require.Empty(t, p.script.Calls())
	require.Equal(t, notebook.NoteQueued, p.note(n.ID).Status)

	require.NoError(t, p.Fail(t.Context(), n.ID, 1, errors.New("late"), true))
	require.Equal(t, notebook.NoteQueued, p.note(n.ID).Status)

	// The note is requeued while the model answers.
	gate := p.script.Gate("answer")
	p.script.Route(infer.AgentExtract, script.Reply{Text: `{"entities":[{"type":"task","title":"Check","content":"","owner":"","due_date":"","tags":[],` +
		`"evidence":"Check","confidence":1}]}`, Gate: gate})

	done := make(chan error, 1)
	entities := -1

	go func() {
		done <- p.Extract(t.Context(), n.ID, version, func(_ *store.Tx, got []notebook.EntityDetail) error {
			entities = len(got)

			return nil
		})
	}()

	<-gate.Reached()
	p.requeue(n.ID)
	gate.Open()
	require.NoError(t, <-done)
	require.Zero(t, entities)
	require.Empty(t, p.titles())
}

func TestExtractOfMissingNoteOnlyFinishes(t *testing.T) {
	p := newProcessing(t)
	require.Empty(t, p.extract(ident.New(), 1))
}

func TestExtractStoresRepeatedEntityOnce(t *testing.T) {
	p := newProcessing(t)
	n := p.capture("Check the disk. And do check the disk!")
	p.extractionAnswers(task("Check the disk", "Check the disk."), task("check the  disk!", "do check the disk"))

	require.Len(t, p.extract(n.ID, 1), 1)
	require.Equal(t, 1, p.note(n.ID).EntityCount)
}
