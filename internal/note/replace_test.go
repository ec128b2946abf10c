package note_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

func TestReprocessReplacesUntouchedEntities(t *testing.T) {
	p := newProcessing(t)
	unsure := task("Look at the disk", "Check the disk.")
	unsure.Confidence = 0.2
	n, old := p.extracted("Check the disk.", unsure)
	p.skipEvents(3)

	version := p.requeue(n.ID)
	p.extractionAnswers(task("Check the disk", "Check the disk."))
	waiting := p.extract(n.ID, version)

	require.Len(t, waiting, 1)
	require.Equal(t, []string{"Check the disk"}, p.titles())
	require.Equal(t, version, waiting[0].NoteVersion)
	require.Empty(t, p.reviews())

	events := p.events(4)
	require.Equal(t, []string{notebook.TypeReviewResolved, notebook.TypeEntityDeleted, notebook.TypeEntityCreated, notebook.TypeNoteProcessed}, eventTypes(events))
	require.Equal(t, string(notebook.ReviewObsolete), events[0].Status)
	require.Equal(t, old[0].ID, events[1].EntityID)
}

func TestReprocessKeepsEntitiesThatPersonChanged(t *testing.T) {
	for name, touch := range map[string]string{
		"accepted": `UPDATE entities SET edited_by = 'ana' WHERE id = $1`,
		"edited":   `UPDATE entities SET edited_by = 'ana', content = 'On node one.', owner = 'Bo' WHERE id = $1`,
		"rejected": `UPDATE entities SET state = 'rejected' WHERE id = $1`,
		"merged":   `UPDATE entities SET state = 'merged' WHERE id = $1`,
	} {
		t.Run(name, func(t *testing.T) {
			p := newProcessing(t)
			n, old := p.extracted("Check the disk. Call Bo.", task("Check the disk", "Check the disk."), task("Call Bo", "Call Bo."))
			p.organize(n.ID, 1)
			p.execute(touch, old[0].ID)
			before := p.entity(old[0].ID)

			version := p.requeue(n.ID)
			p.extractionAnswers(task("check the DISK.", "Check the disk."), task("Call Bo", "Call Bo."))
			waiting := p.extract(n.ID, version)

			// The other entity is replaced by an equal one.
			require.Len(t, waiting, 1)
			require.NotEqual(t, old[1].ID, waiting[0].ID)
			require.Equal(t, []string{"Check the disk", "Call Bo"}, p.titles())
			require.Equal(t, before, p.entity(old[0].ID))
			require.Equal(t, 1, p.note(n.ID).EntityCount)
		})
	}
}

func TestReprocessRecognizesKeptEntityByEvidenceAndWords(t *testing.T) {
	p := newProcessing(t)
	n, old := p.extracted("Check the disk of node seven before the next release.", task("Check the disk of node seven", "Check the disk of node seven"))
	p.execute(`UPDATE entities SET edited_by = 'ana', title = 'Check disk of node seven' WHERE id = $1`, old[0].ID)

	version := p.requeue(n.ID)
	again := task("Check the disk of node seven", "disk of node seven before the next release")
	other := task("Release the next version", "before the next release")
	p.extractionAnswers(again, other)

	p.extract(n.ID, version)
	require.Equal(t, []string{"Check disk of node seven", "Release the next version"}, p.titles())
}

func TestReprocessOrganizesKeptEntityThatWasNot(t *testing.T) {
	p := newProcessing(t)
	n, old := p.extracted("Check the disk.", task("Check the disk", "Check the disk."))
	p.execute(`UPDATE entities SET edited_by = 'ana' WHERE id = $1`, old[0].ID)

	version := p.requeue(n.ID)
	p.extractionAnswers(task("Check the disk", "Check the disk."))
	waiting := p.extract(n.ID, version)

	require.Len(t, waiting, 1)
	require.Equal(t, old[0].ID, waiting[0].ID)
	require.Equal(t, notebook.NoteExtracted, p.note(n.ID).Status)
	require.Zero(t, p.note(n.ID).EntityCount)

	p.organize(n.ID, version)
	require.NotNil(t, p.entity(old[0].ID).OrganizedAt)
}

func TestReprocessKeepsEntityWithDecision(t *testing.T) {
	p := newProcessing(t)
	unsure := task("Check the disk", "Check the disk.")
	unsure.Confidence = 0.2
	n, _ := p.extracted("Check the disk.", unsure)
	p.execute(`INSERT INTO review_decisions (id, item_id, decision, author, decided_at, before, after) SELECT $1, id, 'accept', 'ana', $2, '{}', '{}' FROM review_items`,
		ident.New(), captured)

	version := p.requeue(n.ID)
	p.extractionAnswers()
	p.extract(n.ID, version)
	require.Equal(t, []string{"Check the disk"}, p.titles())
}

func TestReprocessReleasesReviewItemsOfOtherNotes(t *testing.T) {
	p := newProcessing(t)
	project, _ := p.project("Storage", "")
	n, replaced := p.extracted("Check the disk.", task("Check the disk", "Check the disk."))
	other, kept := p.extracted("Check the big disk.", task("Check the big disk", "Check the big disk."))

	epic := infer.PlaceAnswer{ProjectID: project.ID, NewEpicName: "Disks", Confidence: 1}
	p.organizationAnswers(epic)
	p.organize(n.ID, 1)

	epic.DuplicateOf = replaced[0].ID
	p.organizationAnswers(epic)
	p.organize(other.ID, 1)
	require.Len(t, p.reviews(), 2)

	version := p.requeue(n.ID)
	p.extractionAnswers()
	p.extract(n.ID, version)

	for _, item := range p.reviews() {
		switch item.Kind {
		case notebook.ReviewEpic:
			require.Equal(t, notebook.ReviewOpen, item.Status)
			require.Equal(t, []string{kept[0].ID}, item.Proposal.EntityIDs)
		default:
			require.Equal(t, notebook.ReviewDuplicate, item.Kind)
			require.Equal(t, notebook.ReviewObsolete, item.Status)
		}
	}

	// Without its last entity the suggestion is obsolete too.
	version = p.requeue(other.ID)
	p.extractionAnswers()
	p.extract(other.ID, version)

	items, err := store.ReviewItems(t.Context(), p.Store.Reader(), `WHERE r.status = 'open'`)
	require.NoError(t, err)
	require.Empty(t, items)
}

func TestReprocessKeepsEntityThatOthersWereMergedInto(t *testing.T) {
	p := newProcessing(t)
	n, kept := p.extracted("Check the disk.", task("Check the disk", "Check the disk."))
	_, merged := p.extracted("Look at the disk.", task("Look at the disk", "Look at the disk."))
	p.execute(`UPDATE entities SET state = 'merged', merged_into = $2 WHERE id = $1`, merged[0].ID, kept[0].ID)

	version := p.requeue(n.ID)
	p.extractionAnswers()
	p.extract(n.ID, version)
	require.Equal(t, []string{"Check the disk", "Look at the disk"}, p.titles())
}

func TestSimilarEntitiesAreStoredUnlessTheyShareEvidenceWithKeptOne(t *testing.T) {
	p := newProcessing(t)
	content := "Check the disk and the fan of node seven in rack two. Check the disk and the fan of node eight in rack two."
	seven := task("Check the disk of node seven in rack two", "Check the disk and the fan of node seven in rack two.")
	fan := task("Check the fan of node seven in rack two", "Check the disk and the fan of node seven in rack two.")

	// One sentence contains two tasks.
	n, old := p.extracted(content, seven, fan)
	p.execute(`DELETE FROM entities WHERE id = $1`, old[1].ID)
	p.execute(`UPDATE entities SET edited_by = 'ana' WHERE id = $1`, old[0].ID)

	version := p.requeue(n.ID)
	p.extractionAnswers(task("Check the disk of node eight in rack two", "Check the disk and the fan of node eight in rack two."))
	require.Len(t, p.extract(n.ID, version), 2)
	require.Equal(t, []string{"Check the disk of node seven in rack two", "Check the disk of node eight in rack two"}, p.titles())
}
