package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// Each documents the values of the type that it stands for.
type (
	noteSourceSchema    string
	noteStatusSchema    string
	entityTypeSchema    string
	entityStatusSchema  string
	entityStateSchema   string
	projectStatusSchema string
	epicStatusSchema    string
	reviewKindSchema    string
	reviewStatusSchema  string
	decisionSchema      string
	dateSchema          string
	jobStateSchema      string
)

// registerNoteTypes makes the document list the values of the types of notes, entities, projects, review items and jobs.
func registerNoteTypes(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.NoteSource](), reflect.TypeFor[noteSourceSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.NoteStatus](), reflect.TypeFor[noteStatusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.EntityType](), reflect.TypeFor[entityTypeSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.EntityStatus](), reflect.TypeFor[entityStatusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.EntityState](), reflect.TypeFor[entityStateSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.ProjectStatus](), reflect.TypeFor[projectStatusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.EpicStatus](), reflect.TypeFor[epicStatusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.ReviewKind](), reflect.TypeFor[reviewKindSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.ReviewStatus](), reflect.TypeFor[reviewStatusSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Decision](), reflect.TypeFor[decisionSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Date](), reflect.TypeFor[dateSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.JobState](), reflect.TypeFor[jobStateSchema]())
}

// Schema implements huma.SchemaProvider.
func (noteSourceSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.NoteSources()) }

// Schema implements huma.SchemaProvider.
func (noteStatusSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.NoteStatuses()) }

// Schema implements huma.SchemaProvider.
func (entityTypeSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.EntityTypes()) }

// Schema implements huma.SchemaProvider.
func (entityStatusSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.EntityStatuses()) }

// Schema implements huma.SchemaProvider.
func (entityStateSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.EntityStates()) }

// Schema implements huma.SchemaProvider.
func (projectStatusSchema) Schema(huma.Registry) *huma.Schema {
	return oneOf(tarsy.ProjectStatuses())
}

// Schema implements huma.SchemaProvider.
func (epicStatusSchema) Schema(huma.Registry) *huma.Schema {
	return oneOf(tarsy.EpicStatuses())
}

// Schema implements huma.SchemaProvider.
func (reviewKindSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.ReviewKinds()) }

// Schema implements huma.SchemaProvider.
func (reviewStatusSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.ReviewStatuses()) }

// Schema implements huma.SchemaProvider.
func (decisionSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.Decisions()) }

// Schema implements huma.SchemaProvider.
func (jobStateSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.JobStates()) }

// Schema implements huma.SchemaProvider. Every date may be missing.
func (dateSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date", Nullable: true}
}
