package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
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

// cursor is the parameter that says where a page begins.
type cursor string

// readCursor reads a place in a list; nil is the beginning.
func readCursor[C any](text cursor, valid func(place C) bool) (*C, error) {
	if text == "" {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	var place C

	if !decodeCursor(string(text), &place) || !valid(place) {
		return nil, badCursor()
	}

	return &place, nil
}

// readNumberCursor reads a place that is a number from 1, in a struct that has nothing else; 0 is the beginning.
func readNumberCursor[C any](text cursor, number func(place C) int64) (int64, error) {
	place, err := readCursor(text, func(place C) bool { return number(place) > 0 })
	if err != nil || place == nil {
		return 0, err
	}

	return number(*place), nil
}

// validTimeCursor reports whether a place can be one of a list that is ordered by time.
func validTimeCursor(place notebook.TimeCursor) bool {
	return !place.CreatedAt.IsZero() && ident.Valid(place.ID)
}

const (
	defaultPage = 1000
	maxPage     = 5000
)

// pageSize is how many rows of a session's timeline or trace a page has.
type pageSize string

// Schema implements huma.SchemaProvider.
func (pageSize) Schema(huma.Registry) *huma.Schema { return integerSchema(maxPage, defaultPage) }
