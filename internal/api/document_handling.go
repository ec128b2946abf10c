package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// handlingStateSchema documents the values of the type that it stands for.
type handlingStateSchema string

// registerHandlingTypes makes the document list the values of the types of handling.
func registerHandlingTypes(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.HandlingState](), reflect.TypeFor[handlingStateSchema]())
}

// Schema implements huma.SchemaProvider.
func (handlingStateSchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.HandlingStates()) }
