package api

import (
	"reflect"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/notebook"
)

// enum is a type with a fixed set of values. The document lists them wherever the type is used, and parameters accept only them.
type enum struct {
	of, documented reflect.Type
	values         []string
}

// enums lists all enum types. An empty value means that the field can be empty: the document lists it, and a parameter does not accept
// it.
var enums = sync.OnceValue(func() []enum {
	return []enum{
		enumOf(tarsy.SessionStatuses()...),
		enumOf(auth.Scopes()...),
		enumOf(append(tarsy.AccessRoles(), "")...), // a caller without a login
		enumOf(append(tarsy.Severities(), tarsy.SeverityUnknown)...),
		enumOf(tarsy.AlertSources()...),
		enumOf(tarsy.AlertLinkKinds()...),
		enumOf(tarsy.ApprovalStatuses()...),
		enumOf(tarsy.ScopeCall),
		enumOf(append(tarsy.Ratings(), "")...),
		enumOf(tarsy.QualityBys()...),
		enumOf(tarsy.HandlingStates()...),
		enumOf(notebook.NoteSources()...),
		enumOf(notebook.NoteStatuses()...),
		enumOf(notebook.EntityTypes()...),
		enumOf(notebook.EntityStatuses()...),
		enumOf(notebook.EntityStates()...),
		enumOf(notebook.ProjectStatuses()...),
		enumOf(notebook.EpicStatuses()...),
		enumOf(notebook.ReviewKinds()...),
		enumOf(notebook.ReviewStatuses()...),
		enumOf(notebook.Decisions()...),
		enumOf(notebook.JobStates()...),
		enumOf(append(tarsy.Outcomes(), tarsy.OutcomeNone)...), // a session without a verdict
		enumOf(tarsy.Confidences()...),
		enumOf(tarsy.Risks()...),
	}
})

func enumOf[E ~string](values ...E) enum {
	return enum{of: reflect.TypeFor[E](), documented: reflect.TypeFor[anyOf[E]](), values: names(values)}
}

// anyOf represents an enum type in the document.
type anyOf[E ~string] string

// Schema implements huma.SchemaProvider.
func (anyOf[E]) Schema(huma.Registry) *huma.Schema {
	for _, e := range enums() {
		if e.of == reflect.TypeFor[E]() {
			return oneOf(e.values)
		}
	}

	panic("api: " + reflect.TypeFor[E]().String() + " is not among the enums")
}

// valuesOf returns the values that a parameter of a type accepts; nil if it accepts any.
func valuesOf(of reflect.Type) []string {
	for _, e := range enums() {
		if e.of == of {
			return slices.DeleteFunc(slices.Clone(e.values), func(value string) bool { return value == "" })
		}
	}

	return nil
}

// dateSchema documents calendar.Date as a nullable date.
type dateSchema string

// Schema implements huma.SchemaProvider.
func (dateSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date", Nullable: true}
}

// registerTypes makes the document list the values of enum types.
func registerTypes(registry huma.Registry) {
	for _, e := range enums() {
		registry.RegisterTypeAlias(e.of, e.documented)
	}

	registry.RegisterTypeAlias(reflect.TypeFor[calendar.Date](), reflect.TypeFor[dateSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Metadata](), reflect.TypeFor[map[string]any]())
}

func oneOf[S ~string](values []S) *huma.Schema {
	schema := &huma.Schema{Type: huma.TypeString}
	for _, value := range values {
		schema.Enum = append(schema.Enum, string(value))
	}

	return schema
}
