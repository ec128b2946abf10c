package infer

import (
	"context"
	"errors"
	"time"

	"tarsy.dev/tarsy"
)

// Extracted is an entity that the model found in a note, cleaned and within the limits of the store.
type Extracted struct {
	// Kind and one line about it, never empty.
	Type  tarsy.EntityType
	Title string
	// May be empty.
	Content string
	Owner   string
	// Nil if the note gives no date.
	DueOn *tarsy.Date
	// As store.CleanTags returns them.
	Tags []string
	// Where the note states it; nil if the words that the model quoted do not occur in the note.
	Passage *Passage
	// From 0 to 1.
	Confidence float64
}

// Passage is a part of a note.
type Passage struct {
	// The words, exactly as in the note.
	Quote string
	// Where they are, in UTF-16 units.
	Start int
	End   int
}

// Extract finds the entities of a note. The time is that of the note's capture: relative dates such as "by Friday" refer to it. The
// error is ErrSchema if the answer cannot be used, and otherwise that of the call; see llm.AsError.
func (m *Model) Extract(ctx context.Context, content string, now time.Time) ([]Extracted, error) {
	return nil, errors.ErrUnsupported
}
