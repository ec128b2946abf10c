package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// Each documents the values of the type that it stands for.
type (
	ratingSchema    string
	qualityBySchema string
)

// registerFeedbackTypes makes the document list the values of the types of feedback.
func registerFeedbackTypes(registry huma.Registry) {
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.Rating](), reflect.TypeFor[ratingSchema]())
	registry.RegisterTypeAlias(reflect.TypeFor[tarsy.QualityBy](), reflect.TypeFor[qualityBySchema]())
}

// Schema implements huma.SchemaProvider.
func (ratingSchema) Schema(huma.Registry) *huma.Schema { return oneOf(append(tarsy.Ratings(), "")) }

// Schema implements huma.SchemaProvider.
func (qualityBySchema) Schema(huma.Registry) *huma.Schema { return oneOf(tarsy.QualityBys()) }
