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

// encodeCursor encodes a position in a list. The encoding is internal.
func encodeCursor(place any) (string, error) {
	text, err := json.Marshal(place)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}

	return base64.RawURLEncoding.EncodeToString(text), nil
}

// decodeCursor decodes a position that encodeCursor encoded. It reports false for anything else.
func decodeCursor(text string, place any) bool {
	decoded, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return false
	}

	decoder := json.NewDecoder(strings.NewReader(string(decoded)))
	decoder.DisallowUnknownFields()

	return decoder.Decode(place) == nil && !decoder.More()
}

// badCursor returns the error for an invalid cursor.
func badCursor() error {
	return tarsy.FieldErrorf(tarsy.CodeInvalidCursor, "cursor", "cursor must be the next_cursor of the previous page, unchanged")
}

// cursor is the parameter that names the start of a page.
type cursor string

// readCursor decodes a position in a list; nil is the beginning.
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

// readNumberCursor decodes a position that is a single number from 1; 0 is the beginning.
func readNumberCursor[C any](text cursor, number func(place C) int64) (int64, error) {
	place, err := readCursor(text, func(place C) bool { return number(place) > 0 })
	if err != nil || place == nil {
		return 0, err
	}

	return number(*place), nil
}

// validTimeCursor reports whether a position is valid for a list ordered by time.
func validTimeCursor(place notebook.TimeCursor) bool {
	return !place.CreatedAt.IsZero() && ident.Valid(place.ID)
}

const (
	defaultPage = 1000
	maxPage     = 5000
)

// pageSize is the number of rows per page of a session's timeline or trace.
type pageSize string

// Schema implements huma.SchemaProvider.
func (pageSize) Schema(huma.Registry) *huma.Schema { return integerSchema(maxPage, defaultPage) }
