package infer

import (
	"encoding/json"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/structured"
)

// Limits of an answer.
const (
	// MaxEntities is how many entities one note may have.
	MaxEntities = 100
	// MaxReason is the length of a reason in characters; the rest is cut.
	MaxReason = 500
)

// ExtractAnswer is the answer to an extraction as the model writes it: JSON with exactly these fields. The schema of the call is made
// from the type.
type ExtractAnswer struct {
	Entities []EntityAnswer `json:"entities" jsonschema:"What the note contains, in the order of the note. Empty if there is nothing."`
}

// EntityAnswer is one entity of an ExtractAnswer.
type EntityAnswer struct {
	Type       tarsy.EntityType `json:"type" jsonschema:"The kind of entity."`
	Title      string           `json:"title" jsonschema:"One line that makes sense without the note."`
	Content    string           `json:"content" jsonschema:"Details from the note that the title leaves out. Empty if there are none."`
	Owner      string           `json:"owner" jsonschema:"Who is responsible, as named in the note. Empty if nobody is named."`
	DueDate    string           `json:"due_date" jsonschema:"When it is due, as YYYY-MM-DD. Empty if the note gives no date."`
	Tags       []string         `json:"tags" jsonschema:"Up to five short topics in lower case."`
	Evidence   string           `json:"evidence" jsonschema:"The passage of the note that states it, copied exactly."`
	Confidence float64          `json:"confidence" jsonschema:"How certain it is that the note states this, from 0 to 1."`
}

// OrganizeAnswer is the answer to an organization as the model writes it: JSON with exactly these fields, one element per entity.
type OrganizeAnswer struct {
	Entities []PlaceAnswer `json:"entities" jsonschema:"One element for each entity of the input."`
}

// PlaceAnswer is where one entity belongs. Texts that do not apply are empty.
type PlaceAnswer struct {
	Entity             int     `json:"entity" jsonschema:"The number of the entity in the input."`
	ProjectID          string  `json:"project_id" jsonschema:"The project_id of the project it belongs to. Empty if it belongs to none."`
	EpicID             string  `json:"epic_id" jsonschema:"The epic_id of an epic of that project. Empty if none fits."`
	NewEpicName        string  `json:"new_epic_name" jsonschema:"The name of a new epic to create in that project. Empty unless epic_id is empty and a new epic is clearly needed."`
	NewEpicDescription string  `json:"new_epic_description" jsonschema:"One sentence about the new epic. Empty if there is none."`
	Confidence         float64 `json:"confidence" jsonschema:"How certain the project and the epic are, from 0 to 1."`
	DuplicateOf        string  `json:"duplicate_of" jsonschema:"The candidate_id of the candidate that describes the same thing. Empty if none does."`
	Reason             string  `json:"reason" jsonschema:"Why, in one sentence."`
}

var (
	extractSchema  = structured.MustSchema[ExtractAnswer](adjust(MaxEntities))
	organizeSchema = structured.MustSchema[OrganizeAnswer](adjust(0))
)

// ExtractSchema is the JSON Schema of ExtractAnswer.
func ExtractSchema() json.RawMessage { return extractSchema.JSON() }

// OrganizeSchema is the JSON Schema of OrganizeAnswer.
func OrganizeSchema() json.RawMessage { return organizeSchema.JSON() }

// adjust adds the limits of an answer with a list of entities.
func adjust(maxEntities int) func(*jsonschema.Schema) {
	return func(schema *jsonschema.Schema) {
		list := schema.Properties["entities"]
		if maxEntities > 0 {
			list.MaxItems = &maxEntities
		}

		properties := list.Items.Properties
		least, most := 0.0, 1.0
		properties["confidence"].Minimum, properties["confidence"].Maximum = &least, &most

		if kind := properties["type"]; kind != nil {
			structured.Enum(kind, tarsy.EntityTypes())
		}
	}
}
