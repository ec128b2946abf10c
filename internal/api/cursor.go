package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
)

// encodeCursor writes a place in a list down. What it looks like is nobody's business but ours.
func encodeCursor(place any) (string, error) {
	text, err := json.Marshal(place)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}

	return base64.RawURLEncoding.EncodeToString(text), nil
}

// decodeCursor reads a place that encodeCursor wrote. It reports false for anything else.
func decodeCursor(text string, place any) bool {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}

	decoder := json.NewDecoder(strings.NewReader(string(decoded)))
	decoder.DisallowUnknownFields()

	return decoder.Decode(place) == nil && !decoder.More()
}

// badCursor is the error of a cursor that is no place of a list.
func badCursor() error {
	return tarsy.FieldErrorf(tarsy.CodeInvalidCursor, "cursor", "cursor must be the next_cursor of the previous page, unchanged")
}

const (
	defaultPage = 1000
	maxPage     = 5000
)

// pageSize is how many rows of a session's timeline or trace a page has.
type pageSize string

// Schema implements huma.SchemaProvider.
func (pageSize) Schema(huma.Registry) *huma.Schema {
	least, most := 1.0, float64(maxPage)

	return &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most, Default: defaultPage}
}

func (s pageSize) rows() (int, error) {
	if s == "" {
		return defaultPage, nil
	}

	return parseNumber("limit", string(s), maxPage)
}
