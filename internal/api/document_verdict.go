package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// Each documents the values of the type that it stands for.
type (
	outcomeSchema    string
	confidenceSchema string
	riskSchema       string
)

// registerVerdictTypes makes the document list the values of the types of verdicts.
func registerVerdictTypes(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Outcome](), reflect.TypeFor[outcomeSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Confidence](), reflect.TypeFor[confidenceSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Risk](), reflect.TypeFor[riskSchema]())
}

// Schema implements huma.SchemaProvider. Sessions without a verdict have no outcome.
func (outcomeSchema) Schema(huma.Registry) *huma.Schema {
	return oneOf(append(tarsy.Outcomes(), tarsy.OutcomeNone))
}

// Schema implements huma.SchemaProvider.
func (confidenceSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.Confidences()) }

// Schema implements huma.SchemaProvider.
func (riskSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.Risks()) }

// finishVerdict corrects what is not the same in verdicts and sessions: a verdict always has an outcome, and a session without a verdict
// no confidence.
func finishVerdict(schemas map[string]*huma.Schema) {
	schemas["Verdict"].Properties["outcome"] = oneOf(tarsy.Outcomes())
	schemas["SimilarSession"].Properties["confidence"] = oneOf(append(tarsy.Confidences(), ""))
	orNull(schemas["SessionDetail"], "verdict")
}
