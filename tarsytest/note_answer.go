package tarsytest

import (
	"cmp"
	"encoding/json"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

// The names in llm.Request.Agent of the two calls that process a note, for routes of a script.
const (
	NoteExtractor = infer.AgentExtract
	NoteOrganizer = infer.AgentOrganize
)

// certain is the confidence of answers that do not set one: no person is asked.
const certain = 0.95

// ExtractedEntity is what the model finds in a note. Only Title is required.
type ExtractedEntity struct {
	// A task if empty.
	Type  notebook.EntityType
	Title string
	// May be empty.
	Content string
	Owner   string
	// As YYYY-MM-DD; may be empty.
	DueDate string
	Tags    []string
	// The words of the note, exactly as there; Title if empty. Words that are not in the note make a review item.
	Evidence string
	// 0.95 if zero. A person decides below the configured threshold, 0.7 by default.
	Confidence float64
}

// Extracts is the answer of the model to a note: it contains these entities, or none.
//
//	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix the login bug"}))
func Extracts(entities ...ExtractedEntity) script.Reply {
	answer := infer.ExtractAnswer{Entities: []infer.EntityAnswer{}}

	for _, e := range entities {
		answer.Entities = append(answer.Entities, infer.EntityAnswer{
			Type: cmp.Or(e.Type, notebook.EntityTask), Title: e.Title, Content: e.Content, Owner: e.Owner, DueDate: e.DueDate, Tags: append([]string{}, e.Tags...),
			Evidence: cmp.Or(e.Evidence, e.Title), Confidence: cmp.Or(e.Confidence, certain),
		})
	}

	return answered(answer)
}

// Place is where the model files an entity. The zero value is: nowhere.
type Place struct {
	// A project, and an epic of it or a new one; may be empty.
	ProjectID          string
	EpicID             string
	NewEpicName        string
	NewEpicDescription string
	// 0.95 if zero. A person decides below the configured threshold, 0.7 by default.
	Confidence float64
	// An entity with similar words that is the same; may be empty.
	DuplicateOf string
	// Why; may be empty.
	Reason string
}

// Organizes is the answer of the model about the entities of a note, in their order. The model is not asked if there is neither a project
// nor a similar entity.
//
//	app.Script.Route(tarsytest.NoteOrganizer, tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID}))
func Organizes(places ...Place) script.Reply {
	answer := infer.OrganizeAnswer{Entities: []infer.PlaceAnswer{}}

	for i, p := range places {
		answer.Entities = append(answer.Entities, infer.PlaceAnswer{
			Entity: i + 1, ProjectID: p.ProjectID, EpicID: p.EpicID, NewEpicName: p.NewEpicName, NewEpicDescription: p.NewEpicDescription,
			Confidence: cmp.Or(p.Confidence, certain), DuplicateOf: p.DuplicateOf, Reason: p.Reason,
		})
	}

	return answered(answer)
}

func answered(answer any) script.Reply {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic("tarsytest: an answer about a note does not marshal: " + err.Error()) // numbers that are none
	}

	return script.Reply{Text: string(raw)}
}
