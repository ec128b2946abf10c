// Package note is the pipeline from captured text to filed work: capture, extraction, organization. Its child packages hold the rows
// (store), the questions to the model (infer), what people decide (review) and where entities are filed (board).
package note

import (
	"context"
	"errors"

	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
)

// The default thresholds.
const (
	DefaultConfidence = 0.7
	DefaultSimilarity = 0.5
)

// Processor processes notes. It is called by the workers of the queue, and directly by tests. It keeps nothing between calls.
type Processor struct {
	// Required.
	Store *store.DB
	Model *infer.Model
	// Confidence is that below which a person decides about an entity or its place; zero means DefaultConfidence.
	Confidence float64
	// Similarity is that of words from which an entity is a candidate for a duplicate; zero means DefaultSimilarity.
	Similarity float64
}

// Fail records an error on a note: with final set the note has failed, otherwise it waits for another attempt. A note whose version
// is not version any more, or that is done, is left alone. The error is recorded also if ctx is over.
func (p *Processor) Fail(ctx context.Context, noteID string, version int64, cause error, final bool) error {
	return errors.ErrUnsupported
}

// Permanent reports whether repeating the job cannot help: the answer did not fit the schema, or the provider refused the text.
// The caller then calls Fail with final set.
func Permanent(err error) bool { return false }
