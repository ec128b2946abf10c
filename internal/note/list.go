package note

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/store"
)

// Notes returns a page of notes.
func (s *Service) Notes(ctx context.Context, query tarsy.NoteQuery) (tarsy.NotePage, error) {
	var page tarsy.NotePage

	err := s.cfg.Store.Snapshot(ctx, func(q store.Querier) (err error) {
		page, err = store.Notes(ctx, q, query)

		return err
	})
	if err != nil {
		return tarsy.NotePage{}, fmt.Errorf("list notes: %w", err)
	}

	return page, nil
}

// Note returns a note with its entities and review items.
func (s *Service) Note(ctx context.Context, id string) (tarsy.NoteDetail, error) {
	if !tarsy.ValidID(id) {
		return tarsy.NoteDetail{}, store.NoNote(id)
	}

	var detail tarsy.NoteDetail

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
		return tarsy.NoteDetail{}, fmt.Errorf("show note: %w", err)
	}

	return detail, nil
}
