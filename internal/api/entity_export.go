package api

import (
	"context"
	"fmt"
	"io"
	"iter"
	"time"

	"tarsy.dev/tarsy/internal/report"
	"tarsy.dev/tarsy/notebook"
)

const csvType = "text/csv; charset=utf-8"

type exportEntitiesInput struct {
	EntityFilter

	Format exportFormat `doc:"CSV for spreadsheets, JSON for programs, a Markdown table for people." enum:"csv,json,markdown" default:"csv" query:"format"`
}

// entityFile is the JSON of an export.
type entityFile struct {
	ExportedAt time.Time               `json:"exported_at"`
	Entities   []notebook.EntityExport `json:"entities"`
}

func (h *entities) exportEntities(ctx context.Context, in *exportEntitiesInput) (*exportOutput, error) {
	query, err := readEntityQuery(in)
	if err != nil {
		return nil, err
	}

	query.Visible = callerOf(ctx).visible

	entities, err := peekFirst(h.board.Export(ctx, query))
	if err != nil {
		return nil, fmt.Errorf("export entities: %w", err)
	}

	now := h.clock.Now().UTC()
	name := "tarsy-entities-" + now.Format(time.DateOnly)

	switch in.Format {
	case formatJSON:
		return attached(h.logger, name+".json", jsonType, func(w io.Writer) error { return writeEntities(w, now, entities) }), nil
	case formatMarkdown:
		return attached(h.logger, name+".md", markdownType, func(w io.Writer) error { return report.EntitiesMarkdown(w, entities) }), nil
	default:
		return attached(h.logger, name+".csv", csvType, func(w io.Writer) error { return report.EntitiesCSV(w, entities) }), nil
	}
}

// peekFirst reads the first value of a sequence, so that an initial error can still be returned as one. The returned sequence can be read
// once.
func peekFirst[T any](all iter.Seq2[T, error]) (iter.Seq2[T, error], error) {
	next, stop := iter.Pull2(all)

	first, err, ok := next()
	if err != nil {
		stop()

		return nil, err
	}

	return func(yield func(T, error) bool) {
		defer stop()

		for ok && yield(first, err) {
			first, err, ok = next()
		}
	}, nil
}

// writeEntities writes entities as indented JSON, one at a time.
func writeEntities(w io.Writer, now time.Time, entities iter.Seq2[notebook.EntityExport, error]) error {
	p := newPieces(w)
	p.text("{\n  \"exported_at\": ").value(now, indent)
	p.text(",\n  \"entities\": [")

	separator := ""

	for e, err := range entities {
		if err != nil {
			return err
		}

		p.text(separator+"\n    ").value(e, indent+indent)

		if separator = ","; p.err != nil {
			return p.err
		}
	}

	p.text("\n  ]\n}\n")

	return p.err
}
