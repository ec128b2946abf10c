package infer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"tarsy.dev/tarsy"
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

// answerSchema is the schema of an answer: sent with the call, and checked when the answer comes back.
type answerSchema struct {
	raw      json.RawMessage
	resolved *jsonschema.Resolved
}

var (
	extractSchema  = mustSchema[ExtractAnswer](MaxEntities)
	organizeSchema = mustSchema[OrganizeAnswer](0)
)

// ExtractSchema is the JSON Schema of ExtractAnswer.
func ExtractSchema() json.RawMessage { return bytes.Clone(extractSchema.raw) }

// OrganizeSchema is the JSON Schema of OrganizeAnswer.
func OrganizeSchema() json.RawMessage { return bytes.Clone(organizeSchema.raw) }

// mustSchema makes the schema of an answer from its type, which has a list of entities.
func mustSchema[T any](maxEntities int) answerSchema {
	schema, err := jsonschema.For[T](nil)
	if err != nil {
		panic("infer: " + err.Error())
	}

	list := schema.Properties["entities"]
	closeLists(schema)

	if maxEntities > 0 {
		list.MaxItems = &maxEntities
	}

	properties := list.Items.Properties
	least, most := 0.0, 1.0
	properties["confidence"].Minimum, properties["confidence"].Maximum = &least, &most

	if kind := properties["type"]; kind != nil {
		for _, t := range tarsy.EntityTypes() {
			kind.Enum = append(kind.Enum, t)
		}
	}

	raw, err := json.Marshal(schema)
	if err != nil {
		panic("infer: " + err.Error())
	}

	resolved, err := schema.Resolve(nil)
	if err != nil {
		panic("infer: " + err.Error())
	}

	return answerSchema{raw: raw, resolved: resolved}
}

// closeLists removes null from the types of lists: Go's nil is an empty list here.
func closeLists(schema *jsonschema.Schema) {
	if schema.Items != nil {
		schema.Type, schema.Types = "array", nil
		closeLists(schema.Items)
	}

	for _, property := range schema.Properties {
		closeLists(property)
	}
}

// decode reads an answer that must be exactly one JSON value that fits the schema.
func decode[T any](schema answerSchema, text string) (T, error) {
	var answer T

	text = unfenced(text)

	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return answer, fmt.Errorf("%w: it is not JSON: %w", ErrSchema, err)
	}

	if err := schema.resolved.Validate(value); err != nil {
		return answer, fmt.Errorf("%w: %s", ErrSchema, tarsy.CutText(err.Error(), MaxReason))
	}

	// The schema allows no other fields; numbers such as 1.0 fit it and not the type.
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		return answer, fmt.Errorf("%w: %w", ErrSchema, err)
	}

	return answer, nil
}

// unfenced removes a Markdown code fence around an answer: models that are not held to a schema often write one.
func unfenced(text string) string {
	text = strings.TrimSpace(text)

	inner, fenced := strings.CutPrefix(text, "```")
	if !fenced {
		return text
	}

	inner, fenced = strings.CutSuffix(strings.TrimPrefix(inner, "json"), "```")
	if !fenced {
		return text
	}

	return strings.TrimSpace(inner)
}
