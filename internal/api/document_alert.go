package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// Each documents the values of the type that it stands for.
type (
	severitySchema    string
	alertSourceSchema string
	linkKindSchema    string
)

// registerAlertTypes makes the document list the values of the types of what an alert is about.
func registerAlertTypes(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Severity](), reflect.TypeFor[severitySchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.AlertSource](), reflect.TypeFor[alertSourceSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.AlertLinkKind](), reflect.TypeFor[linkKindSchema]())
}

// Schema implements huma.SchemaProvider.
func (severitySchema) Schema(huma.Registry) *huma.Schema {
	return oneOf(append(tarsy.Severities(), tarsy.SeverityUnknown))
}

// Schema implements huma.SchemaProvider.
func (alertSourceSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.AlertSources()) }

// Schema implements huma.SchemaProvider.
func (linkKindSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.AlertLinkKinds()) }
