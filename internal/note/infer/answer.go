package infer

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy/internal/schema"
	"tarsy.dev/tarsy/internal/structured"
	"tarsy.dev/tarsy/notebook"
)

// Limits on an answer.
const (
	// MaxEntities is the maximum number of entities of one note.
	MaxEntities = 100
	// MaxReason is the maximum length of a reason in characters; the rest is cut.
	MaxReason = 500
)

// ExtractAnswer is the model's answer to an extraction: JSON with exactly these fields. The schema of the call is generated from this type.
type ExtractAnswer struct {
	Entities []EntityAnswer `doc:"What the note contains, in the order of the note. Empty if there is nothing." json:"entities"`
}

// EntityAnswer is one entity of an ExtractAnswer.
type EntityAnswer struct {
	Type       notebook.EntityType `doc:"The kind of entity." json:"type"`
	Title      string              `doc:"One line that makes sense without the note." json:"title"`
	Content    string              `doc:"Details from the note that the title leaves out. Empty if there are none." json:"content"`
	Owner      string              `doc:"Who is responsible, as named in the note. Empty if nobody is named." json:"owner"`
	DueDate    string              `doc:"When it is due, as YYYY-MM-DD. Empty if the note gives no date." json:"due_date"`
	Tags       []string            `doc:"Up to five short topics in lower case." json:"tags"`
	Evidence   string              `doc:"The passage of the note that states it, copied exactly." json:"evidence"`
	Confidence float64             `doc:"How certain it is that the note states this, from 0 to 1." json:"confidence"`
}

// OrganizeAnswer is the model's answer to an organization: JSON with exactly these fields, one element per entity.
type OrganizeAnswer struct {
	Entities []PlaceAnswer `doc:"One element for each entity of the input." json:"entities"`
}

// PlaceAnswer is where one entity belongs. Texts that do not apply are empty.
type PlaceAnswer struct {
	Entity             int     `doc:"The number of the entity in the input." json:"entity"`
	ProjectID          string  `doc:"The project_id of the project it belongs to. Empty if it belongs to none." json:"project_id"`
	EpicID             string  `doc:"The epic_id of an epic of that project. Empty if none fits." json:"epic_id"`
	NewEpicName        string  `doc:"The name of a new epic to create in that project. Empty unless epic_id is empty and a new epic is clearly needed." json:"new_epic_name"`
	NewEpicDescription string  `doc:"One sentence about the new epic. Empty if there is none." json:"new_epic_description"`
	Confidence         float64 `doc:"How certain the project and the epic are, from 0 to 1." json:"confidence"`
	DuplicateOf        string  `doc:"The candidate_id of the candidate that describes the same thing. Empty if none does." json:"duplicate_of"`
	Reason             string  `doc:"Why, in one sentence." json:"reason"`
}

var (
	extractSchema  = structured.MustSchema[ExtractAnswer](adjust(MaxEntities))
	organizeSchema = structured.MustSchema[OrganizeAnswer](adjust(0))
)

// ExtractSchema is the JSON Schema of ExtractAnswer.
func ExtractSchema() json.RawMessage { return extractSchema.JSON() }

// OrganizeSchema is the JSON Schema of OrganizeAnswer.
func OrganizeSchema() json.RawMessage { return organizeSchema.JSON() }

// adjust adds limits to the schema of an answer with a list of entities.
func adjust(maxEntities int) func(*jsonschema.Schema) {
	return func(answer *jsonschema.Schema) {
		list := answer.Properties["entities"]
		if maxEntities > 0 {
			list.MaxItems = &maxEntities
		}

		properties := list.Items.Properties
		least, most := 0.0, 1.0
		properties["confidence"].Minimum, properties["confidence"].Maximum = &least, &most

		if kind := properties["type"]; kind != nil {
			kind.Enum = schema.Values(notebook.EntityTypes())
		}
	}
}
