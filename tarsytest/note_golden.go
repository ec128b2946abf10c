package tarsytest

import (
	"tarsy.dev/tarsy/notebook"
)

// NoteNormalizer returns a Normalizer for the ids of a note: {NOTE_ID}, {ENTITY_ID_1}, {REVIEW_ID_1}, {PROJECT_ID_1},
// {EPIC_ID_1}, … in the order of the note. Other ids are numbered as they appear.
func NoteNormalizer(note notebook.NoteDetail) *Normalizer {
	n := &Normalizer{names: map[string]string{note.ID: "{NOTE_ID}"}, counts: map[string]int{}, places: map[string]place{}, owners: map[string]string{}}

	for _, e := range note.Entities {
		n.name("ENTITY_ID", e.ID)
		n.nameSet("PROJECT_ID", e.ProjectID)
		n.nameSet("EPIC_ID", e.EpicID)
	}

	for _, r := range note.ReviewItems {
		n.name("REVIEW_ID", r.ID)
		n.nameSet("PROJECT_ID", r.ProjectID)
	}

	return n
}

func (n *Normalizer) nameSet(kind string, id *string) {
	if id != nil {
		n.name(kind, *id)
	}
}
