package api

import (
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/plaintext"
)

// alertData is the data of an alert: text as is; an object or a list as indented JSON.
type alertData string

// Schema implements huma.SchemaProvider.
func (*alertData) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Description: "The alert itself: free text, or an object or a list, which is kept as indented JSON text.",
		OneOf:       []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeObject}, {Type: huma.TypeArray, Items: &huma.Schema{}}},
	}
}

// dataKinds names the kinds of value that alert data accepts.
const dataKinds = "text, an object or a list"

// readValue implements valueReader.
func (d *alertData) readValue(v value) error {
	var (
		text string
		err  error
	)

	switch v.kind() {
	case kindText:
		text, err = v.text()
	case kindObject, kindList:
		text = plaintext.Clean(alert.Indent(v.raw))
	default:
		return v.wrong(dataKinds)
	}

	switch {
	case err != nil:
		return err
	case v.kind() != kindText && !alert.HasContent(v.raw):
		return tarsy.FieldErrorf(tarsy.CodeEmptyAlert, v.path, "%s contains nothing: none of its fields has a value", v.path)
	case strings.TrimSpace(text) == "":
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, v.path, "%s must not be empty", v.path)
	case len(text) > tarsy.MaxAlertBytes:
		// Cleaning replaces an invalid byte with three bytes.
		return tooLarge(v.path, tarsy.MaxAlertBytes)
	}

	*d = alertData(text)

	return nil
}
