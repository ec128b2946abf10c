package note_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

func TestOrganizeFilesEntityUnderProjectAndEpic(t *testing.T) {
	p := newProcessing(t)
	project, epics := p.project("Login", "Everything about signing in", "Browsers")
	n, created := p.extracted("Fix the login bug. Buy milk.", task("Fix the login bug", "Fix the login bug."), task("Buy milk", "Buy milk."))
	p.skipEvents(3)
	p.organizationAnswers(infer.PlaceAnswer{ProjectID: project.ID, EpicID: epics[0].ID, Confidence: 0.7, Reason: "It is about login."}, infer.PlaceAnswer{Confidence: 0.9})

	p.organize(n.ID, 1)

	filed := p.entity(created[0].ID)
	require.Equal(t, project.ID, *filed.ProjectID)
	require.Equal(t, epics[0].ID, *filed.EpicID)
	require.NotNil(t, filed.OrganizedAt)
	require.Equal(t, int64(2), filed.Version)
	require.Empty(t, filed.EditedBy)

	unfiled := p.entity(created[1].ID)
	require.Nil(t, unfiled.ProjectID)
	require.NotNil(t, unfiled.OrganizedAt)

	require.Equal(t, notebook.NoteDone, p.note(n.ID).Status)
	require.Empty(t, p.reviews())

	events := p.events(2)
	require.Equal(t, []string{notebook.TypeEntityOrganized, notebook.TypeEntityOrganized}, eventTypes(events))
	require.Equal(t, project.ID, events[0].ProjectID)
	require.Equal(t, epics[0].ID, events[0].EpicID)
}

func TestOrganizeWithoutChoicesSkipsModel(t *testing.T) {
	p := newProcessing(t)
	_, err := p.pool.Exec(t.Context(), `INSERT INTO projects (id, name, status, created_by, created_at, updated_at) VALUES ($1, 'Old', 'archived', 'ana', $2, $2)`,
		ident.New(), captured)
	require.NoError(t, err)

	n, created := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	p.organize(n.ID, 1)

	require.NotNil(t, p.entity(created[0].ID).OrganizedAt)
	require.Equal(t, notebook.NoteDone, p.note(n.ID).Status)
	require.Equal(t, 1, p.script.CallCount())
	require.Equal(t, []string{notebook.TypeEntityCreated, notebook.TypeNoteProcessed, notebook.TypeEntityOrganized}, eventTypes(p.events(3)))
}

func TestOrganizeLeavesUncertainAssignmentToPerson(t *testing.T) {
	p := newProcessing(t)
	project, epics := p.project("Login", "", "Browsers")
	n, created := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	p.organizationAnswers(infer.PlaceAnswer{ProjectID: project.ID, EpicID: epics[0].ID, Confidence: 0.4, Reason: "It may be about login."})

	p.organize(n.ID, 1)

	unfiled := p.entity(created[0].ID)
	require.Nil(t, unfiled.ProjectID)
	require.NotNil(t, unfiled.OrganizedAt)

	items := p.reviews()
	require.Len(t, items, 1)
	require.Equal(t, notebook.ReviewAssignment, items[0].Kind)
	require.Equal(t, created[0].ID, *items[0].EntityID)
	require.Equal(t, notebook.Proposal{AssignProjectID: project.ID, AssignEpicID: epics[0].ID}, items[0].Proposal)
	require.InDelta(t, 0.4, *items[0].Confidence, 0)
	require.Equal(t, "It may be about login.", items[0].Reason)
	require.Equal(t, []string{notebook.TypeEntityCreated, notebook.TypeNoteProcessed, notebook.TypeEntityOrganized, notebook.TypeReviewCreated}, eventTypes(p.events(4)))
}

func TestOrganizeProposesDuplicateWithItsScore(t *testing.T) {
	p := newProcessing(t)
	first, old := p.extracted("Fix the login bug on Safari.", task("Fix the login bug on Safari", "Fix the login bug on Safari."))
	p.organize(first.ID, 1)

	n, created := p.extracted("Fix login bug on Safari now!", task("Fix login bug on Safari", "Fix login bug on Safari"), task("Order a pizza", "now!"))
	p.organizationAnswers(infer.PlaceAnswer{DuplicateOf: old[0].ID, Confidence: 0.8, Reason: "It is the same bug."}, infer.PlaceAnswer{})

	p.organize(n.ID, 1)

	items := p.reviews()
	require.Len(t, items, 1)
	require.Equal(t, notebook.ReviewDuplicate, items[0].Kind)
	require.Equal(t, created[0].ID, *items[0].EntityID)
	require.Equal(t, notebook.Proposal{DuplicateOf: old[0].ID}, items[0].Proposal)
	require.InDelta(t, 5.0/6, *items[0].Score, 1e-9)
	require.Nil(t, items[0].Confidence)
	require.Equal(t, "It is the same bug.", items[0].Reason)

	// Nothing is merged.
	require.Equal(t, notebook.EntityAccepted, p.entity(created[0].ID).State)
	require.Equal(t, notebook.EntityAccepted, p.entity(old[0].ID).State)
}

func TestOrganizeOffersOnlySimilarOpenEntitiesAsDuplicates(t *testing.T) {
	p := newProcessing(t)
	_, old := p.extracted("Rotate the API keys. ROTATE all keys. Rotate api keys. The API keys. Rotate the API keys of staging.",
		task("Rotate the API keys now", "Rotate the API keys."), task("Rotate the API keys soon", "ROTATE all keys."),
		task("Rotate the API keys later", "Rotate api keys."), task("Paint the fence", "The API keys."))

	// Only the first one is still open and accepted.
	p.execute(`UPDATE entities SET status = 'done' WHERE id = $1`, old[1].ID)
	p.execute(`UPDATE entities SET state = 'rejected' WHERE id = $1`, old[2].ID)

	n, _ := p.extracted("Rotate the API keys.", task("Rotate the API keys", "Rotate the API keys."))
	p.organizationAnswers(infer.PlaceAnswer{})
	p.organize(n.ID, 1)

	prompt := p.lastPrompt()
	require.Contains(t, prompt, old[0].ID)
	require.Equal(t, 1, strings.Count(prompt, "candidate_id"))
}

func TestEntitiesOfOneNoteReferToEarlierOnesOnly(t *testing.T) {
	p := newProcessing(t)
	n, created := p.extracted("Check the disk of node one. Check the disk of node two.",
		task("Check the disk of node one", "Check the disk of node one."), task("Check the disk of node two", "Check the disk of node two."))
	p.organizationAnswers(infer.PlaceAnswer{}, infer.PlaceAnswer{DuplicateOf: created[0].ID})
	p.organize(n.ID, 1)

	require.Equal(t, 1, strings.Count(p.lastPrompt(), "candidate_id"))

	items := p.reviews()
	require.Len(t, items, 1)
	require.Equal(t, created[1].ID, *items[0].EntityID)
}

func TestOrganizeSuggestsOneEpicPerNameAndProject(t *testing.T) {
	p := newProcessing(t)
	project, _ := p.project("Login", "")
	n, created := p.extracted("Support passkeys. Store passkeys.", task("Support passkeys", "Support passkeys."), task("Store passkeys", "Store passkeys."))
	suggestion := infer.PlaceAnswer{ProjectID: project.ID, NewEpicName: "Passkeys", NewEpicDescription: "Sign in without a password.", Confidence: 0.9, Reason: "New topic."}
	unsure := suggestion
	unsure.NewEpicName, unsure.Confidence = "passkeys", 0.5
	p.organizationAnswers(suggestion, unsure)

	p.organize(n.ID, 1)

	items := p.reviews()
	require.Len(t, items, 2)
	require.Equal(t, notebook.ReviewAssignment, items[0].Kind)
	require.Equal(t, created[1].ID, *items[0].EntityID)

	epic := items[1]
	require.Equal(t, notebook.ReviewEpic, epic.Kind)
	require.Nil(t, epic.EntityID)
	require.Equal(t, project.ID, *epic.ProjectID)
	require.Equal(t, notebook.Proposal{
		EpicName: "Passkeys", EpicDescription: "Sign in without a password.", EntityIDs: []string{created[0].ID, created[1].ID},
	}, epic.Proposal)

	require.Equal(t, project.ID, *p.entity(created[0].ID).ProjectID)
	require.Nil(t, p.entity(created[0].ID).EpicID)
	require.Nil(t, p.entity(created[1].ID).ProjectID)

	// A second note with the same suggestion adds to the item.
	second, more := p.extracted("Document passkeys somewhere else entirely.", task("Document it", "Document passkeys"))
	p.organizationAnswers(suggestion)
	p.organize(second.ID, 1)

	items = p.reviews()
	require.Len(t, items, 2)
	require.Equal(t, []string{created[0].ID, created[1].ID, more[0].ID}, items[1].Proposal.EntityIDs)
	require.Equal(t, int64(2), items[1].Version)

	types := eventTypes(p.events(11))
	require.Equal(t, []string{notebook.TypeEntityOrganized, notebook.TypeReviewUpdated}, types[len(types)-2:])
}

func TestSuggestedEpicThatExistsIsUsed(t *testing.T) {
	p := newProcessing(t)
	project, epics := p.project("Login", "", "Passkeys", "Captchas")
	p.execute(`UPDATE epics SET status = 'done' WHERE id = $1`, epics[1].ID)

	n, created := p.extracted("Support passkeys. Drop captchas.", task("Support passkeys", "Support passkeys."), task("Drop captchas", "Drop captchas."))
	p.organizationAnswers(infer.PlaceAnswer{ProjectID: project.ID, NewEpicName: "PASSKEYS", Confidence: 1}, infer.PlaceAnswer{ProjectID: project.ID, NewEpicName: "Captchas", Confidence: 1})
	p.organize(n.ID, 1)

	require.Equal(t, epics[0].ID, *p.entity(created[0].ID).EpicID)
	require.Equal(t, project.ID, *p.entity(created[1].ID).ProjectID)
	require.Nil(t, p.entity(created[1].ID).EpicID)
	require.Empty(t, p.reviews())
}

func TestOrganizeRejectsInventedIDs(t *testing.T) {
	p := newProcessing(t)
	n, created := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	p.project("Login", "")
	p.organizationAnswers(infer.PlaceAnswer{ProjectID: ident.New(), Confidence: 1})

	err := p.Organize(t.Context(), n.ID, 1, func(*store.Tx) error { return errors.New("finish must not run") })
	require.ErrorIs(t, err, structured.ErrSchema)
	require.True(t, note.Permanent(err))
	require.Nil(t, p.entity(created[0].ID).OrganizedAt)

	require.NoError(t, p.Fail(t.Context(), n.ID, 1, err, true))
	require.Equal(t, notebook.NoteFailed, p.note(n.ID).Status)
	require.True(t, p.note(n.ID).Processed)

	// Someone retries the job.
	p.organizationAnswers(infer.PlaceAnswer{})
	p.organize(n.ID, 1)
	require.Equal(t, notebook.NoteDone, p.note(n.ID).Status)
	require.Empty(t, p.note(n.ID).ProcessingError)
}

func TestOrganizeReturnsFailureOfModel(t *testing.T) {
	p := newProcessing(t)
	p.project("Login", "")
	n, _ := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	overloaded := &llm.Error{Class: llm.ClassQuota, Retryable: true, Message: "too many requests"}
	p.script.Route(infer.AgentOrganize, script.Reply{Err: overloaded})

	err := p.Organize(t.Context(), n.ID, 1, func(*store.Tx) error { return errors.New("finish must not run") })
	require.ErrorIs(t, err, overloaded)

	require.NoError(t, p.Fail(t.Context(), n.ID, 1, err, false))
	require.Equal(t, notebook.NoteExtracted, p.note(n.ID).Status)
	require.Contains(t, p.note(n.ID).ProcessingError, "too many requests")
}

func TestOrganizeLeavesOtherVersionsAndOtherNotesAlone(t *testing.T) {
	p := newProcessing(t)
	n, created := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	version := p.requeue(n.ID)

	p.organize(n.ID, 1)
	p.organize(n.ID, version)
	p.organize(ident.New(), 1)
	require.Nil(t, p.entity(created[0].ID).OrganizedAt)
	require.Equal(t, notebook.NoteQueued, p.note(n.ID).Status)
}

func TestOrganizeKeepsConcurrentFilingByPerson(t *testing.T) {
	p := newProcessing(t)
	login, _ := p.project("Login", "")
	shop, _ := p.project("Shop", "")
	n, created := p.extracted("Fix it. Drop it. Leave it.", task("Fix it", "Fix it."), task("Drop it", "Drop it."), task("Leave it", "Leave it."))
	gate := p.script.Gate("answer")
	p.script.Route(infer.AgentOrganize, script.Reply{Gate: gate, Text: fmt.Sprintf(`{"entities":[%s,%s,%s]}`, place(1, login.ID), place(2, login.ID), place(3, login.ID))})

	done := make(chan error, 1)
	go func() { done <- p.Organize(t.Context(), n.ID, 1, func(*store.Tx) error { return nil }) }()

	<-gate.Reached()
	p.execute(`UPDATE entities SET project_id = $2, edited_by = 'ana' WHERE id = $1`, created[0].ID, shop.ID)
	p.execute(`UPDATE entities SET state = 'rejected', edited_by = 'ana' WHERE id = $1`, created[1].ID)
	p.execute(`DELETE FROM entities WHERE id = $1`, created[2].ID)
	gate.Open()
	require.NoError(t, <-done)

	require.Equal(t, shop.ID, *p.entity(created[0].ID).ProjectID)
	require.NotNil(t, p.entity(created[0].ID).OrganizedAt)
	require.Nil(t, p.entity(created[1].ID).ProjectID)
	require.Empty(t, p.reviews())
	require.Equal(t, notebook.NoteDone, p.note(n.ID).Status)
}

func TestProjectArchivedWhileModelAnswersIsRetried(t *testing.T) {
	p := newProcessing(t)
	project, _ := p.project("Login", "")
	n, created := p.extracted("Fix it.", task("Fix it", "Fix it."))
	gate := p.script.Gate("answer")
	p.script.Route(infer.AgentOrganize, script.Reply{Gate: gate, Text: fmt.Sprintf(`{"entities":[%s]}`, place(1, project.ID))})

	done := make(chan error, 1)
	go func() { done <- p.Organize(t.Context(), n.ID, 1, func(*store.Tx) error { return nil }) }()

	<-gate.Reached()
	p.execute(`UPDATE projects SET status = 'archived'`)
	gate.Open()

	err := <-done
	require.ErrorContains(t, err, "in the meantime")
	require.False(t, note.Permanent(err))
	require.Nil(t, p.entity(created[0].ID).OrganizedAt)

	p.organize(n.ID, 1)
	require.NotNil(t, p.entity(created[0].ID).OrganizedAt)
}

func TestOrganizeOffersMostSimilarProjectsFirst(t *testing.T) {
	p := newProcessing(t)

	for i := range 25 {
		p.project(fmt.Sprintf("Project %02d", i), strings.Repeat("x", 1000))
	}

	shop, _ := p.project("Payments", "", "Refunds of vouchers")
	n, _ := p.extracted("Refund the vouchers.", task("Refund the vouchers", "Refund the vouchers."))
	p.organizationAnswers(infer.PlaceAnswer{})
	p.organize(n.ID, 1)

	prompt := p.lastPrompt()
	require.Equal(t, 20, strings.Count(prompt, `"project_id"`))
	require.Less(t, strings.Index(prompt, shop.ID), strings.Index(prompt, "Project 00"))
	require.NotContains(t, prompt, strings.Repeat("x", 301))
}

func TestOrganizeAsksOnlyAboutEntitiesThatAreNotOrganized(t *testing.T) {
	p := newProcessing(t)
	p.project("Login", "")
	n, created := p.extracted("Fix it. Ship it.", task("Fix it", "Fix it."), task("Ship it", "Ship it."))
	p.execute(`UPDATE entities SET organized_at = now(), edited_by = 'ana' WHERE id = $1`, created[0].ID)
	p.organizationAnswers(infer.PlaceAnswer{})
	p.organize(n.ID, 1)

	require.NotContains(t, p.lastPrompt(), "Fix it")
	require.Equal(t, int64(1), p.entity(created[0].ID).Version)
}

func TestOrganizeOfNoteWithoutEntitiesFinishesIt(t *testing.T) {
	p := newProcessing(t)
	n, created := p.extracted("Fix it.", task("Fix it", "Fix it."))
	p.skipEvents(2)
	p.execute(`DELETE FROM entities WHERE id = $1`, created[0].ID)
	p.organize(n.ID, 1)

	require.Equal(t, notebook.NoteDone, p.note(n.ID).Status)

	events := p.events(1)
	require.Equal(t, notebook.TypeNoteProcessed, events[0].Type)
	require.Equal(t, string(notebook.NoteDone), events[0].Status)
}

func TestDuplicateRejectedWhileModelAnswersIsNotProposed(t *testing.T) {
	p := newProcessing(t)
	_, old := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	n, created := p.extracted("Fix the login bug!", task("Fix the login bug now", "Fix the login bug!"))
	gate := p.script.Gate("answer")
	p.script.Route(infer.AgentOrganize, script.Reply{Gate: gate, Text: strings.Replace(`{"entities":[`+place(1, "")+`]}`, `"duplicate_of":""`, `"duplicate_of":"`+old[0].ID+`"`, 1)})

	done := make(chan error, 1)
	go func() { done <- p.Organize(t.Context(), n.ID, 1, func(*store.Tx) error { return nil }) }()

	<-gate.Reached()
	p.execute(`UPDATE entities SET state = 'rejected', edited_by = 'ana' WHERE id = $1`, old[0].ID)
	gate.Open()
	require.NoError(t, <-done)
	require.NotNil(t, p.entity(created[0].ID).OrganizedAt)
	require.Empty(t, p.reviews())
}

func TestMutualDuplicatesCreateOneReviewItem(t *testing.T) {
	p := newProcessing(t)
	first, one := p.extracted("Fix the login bug.", task("Fix the login bug", "Fix the login bug."))
	second, two := p.extracted("Fix the login bug!", task("Fix the login bug", "Fix the login bug!"))

	p.organizationAnswers(infer.PlaceAnswer{DuplicateOf: two[0].ID})
	p.organize(first.ID, 1)
	p.organizationAnswers(infer.PlaceAnswer{DuplicateOf: one[0].ID})
	p.organize(second.ID, 1)

	items := p.reviews()
	require.Len(t, items, 1)
	require.Equal(t, one[0].ID, *items[0].EntityID)
}

func TestConcurrentSuggestionsOfSameEpicShareOneItem(t *testing.T) {
	p := newProcessing(t)
	project, _ := p.project("Login", "")
	first, one := p.extracted("Support passkeys.", task("Support passkeys", "Support passkeys."))
	second, two := p.extracted("Write documentation.", task("Write documentation", "Write documentation."))
	suggestion := infer.PlaceAnswer{ProjectID: project.ID, NewEpicName: "Passkeys", Confidence: 1}
	p.organizationAnswers(suggestion)
	p.organizationAnswers(suggestion)

	// Block the first one just before it commits.
	reached, commit, done := make(chan struct{}), make(chan struct{}), make(chan error, 2)
	release := sync.OnceFunc(func() { close(commit) })

	defer release() // even if the test fails

	go func() {
		done <- p.Organize(t.Context(), first.ID, 1, func(*store.Tx) error {
			close(reached)
			<-commit

			return nil
		})
	}()

	<-reached

	go func() { done <- p.Organize(t.Context(), second.ID, 1, func(*store.Tx) error { return nil }) }()

	wait.Until(t, "the second one to wait for the first", func() bool {
		var waits bool

		return p.pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`).Scan(&waits) == nil && waits
	})
	release()
	require.NoError(t, <-done)
	require.NoError(t, <-done)

	items := p.reviews()
	require.Len(t, items, 1)
	require.Equal(t, []string{one[0].ID, two[0].ID}, items[0].Proposal.EntityIDs)
}

// place returns an answer that files an entity under a project.
func place(entity int, projectID string) string {
	return fmt.Sprintf(`{"entity":%d,"project_id":%q,"epic_id":"","new_epic_name":"","new_epic_description":"","confidence":1,"duplicate_of":"","reason":""}`,
		entity, projectID)
}
