package note

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Notes returns a page of notes.
func (s *Service) Notes(ctx context.Context, query notebook.NoteQuery) (notebook.NotePage, error) {
	var page notebook.NotePage

	err := s.cfg.Store.Snapshot(ctx, func(q store.Querier) (err error) {
		page, err = store.Notes(ctx, q, query)

		return err
	})
	if err != nil {
		return notebook.NotePage{}, fmt.Errorf("list notes: %w", err)
	}

	return page, nil
}

// Note returns a note with its entities and review items.
func (s *Service) Note(ctx context.Context, id string) (notebook.NoteDetail, error) {
	if !ident.Valid(id) {
		return notebook.NoteDetail{}, store.NoNote(id)
	}

	var detail notebook.NoteDetail

	err := s.cfg.Store.Snapshot(ctx, func(q store.Querier) (err error) {
		if detail.Note, err = store.Note(ctx, q, id); err != nil {
			return err
		}

		detail.Entities, err = store.Entities(ctx, q,
			`WHERE EXISTS (SELECT 1 FROM entity_sources s WHERE s.entity_id = e.id AND s.note_id = $1) OR e.note_id = $1 ORDER BY e.created_at, e.id`, id)
		if err != nil {
			return err
		}

		detail.ReviewItems, err = store.ReviewItems(ctx, q, `WHERE r.note_id = $1 ORDER BY r.created_at, r.id`, id)

		return err
	})
	if err != nil {
		return notebook.NoteDetail{}, fmt.Errorf("show note: %w", err)
	}

	return detail, nil
}
