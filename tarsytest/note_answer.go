package tarsytest

import (
	"cmp"
	"encoding/json"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

// Values of llm.Request.Agent for the two calls that process a note, for routes of a script.
const (
	NoteExtractor = infer.AgentExtract
	NoteOrganizer = infer.AgentOrganize
)

// certain is the confidence of answers that do not set one, so high that no person is asked.
const certain = 0.95

// ExtractedEntity is an entity that the model finds in a note. Only Title is required.
type ExtractedEntity struct {
	// Type is a task if empty.
	Type  notebook.EntityType
	Title string
	// Content may be empty.
	Content string
	Owner   string
	// DueDate is YYYY-MM-DD; may be empty.
	DueDate string
	Tags    []string
	// Evidence is a verbatim quote from the note; Title if empty. A quote that is not in the note creates a review item.
	Evidence string
	// Confidence is 0.95 if zero. A person decides below the configured threshold, 0.7 by default.
	Confidence float64
}

// Extracts returns the model's answer to a note: these entities, or none.
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

// Place is where the model files an entity. The zero value means nowhere.
type Place struct {
	// ProjectID is a project, with one of its epics or a new epic; may be empty.
	ProjectID          string
	EpicID             string
	NewEpicName        string
	NewEpicDescription string
	// Confidence is 0.95 if zero. A person decides below the configured threshold, 0.7 by default.
	Confidence float64
	// DuplicateOf is the entity with similar words that this one duplicates; may be empty.
	DuplicateOf string
	// Reason may be empty.
	Reason string
}

// Organizes returns the model's answer about the entities of a note, in their order. The model is not called if there is
// neither a project nor a similar entity.
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
		panic("tarsytest: marshal the model's answer about a note: " + err.Error()) // a confidence that is NaN or infinite
	}

	return script.Reply{Text: string(raw)}
}
