package board

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// exportPage is how many entities of an export are in memory at a time.
const exportPage = 500

// Export reads all entities that match a query, newest first, ignoring the query's order and limit. It reads page by page and holds no
// connection between pages, so a slow reader blocks no one. The order never changes, so an entity that exists throughout is read exactly
// once, in its state at that moment.
func (s *Service) Export(ctx context.Context, q notebook.EntityQuery) iter.Seq2[notebook.EntityExport, error] {
	q.Board, q.Limit, q.After = false, exportPage, nil

	return func(yield func(notebook.EntityExport, error) bool) {
		for {
			page, err := s.exportPage(ctx, q)
			if err != nil {
				yield(notebook.EntityExport{}, fmt.Errorf("export entities: %w", err))

				return
			}

			for _, entity := range page[:min(len(page), q.Limit)] {
				if !yield(entity, nil) {
					return
				}
			}

			if len(page) <= q.Limit {
				return
			}

			last := page[q.Limit-1]
			q.After = &notebook.EntityCursor{CreatedAt: last.CreatedAt, ID: last.ID}
		}
	}
}

// exportPage reads one page plus one more entity, if there are that many.
func (s *Service) exportPage(ctx context.Context, q notebook.EntityQuery) ([]notebook.EntityExport, error) {
	var page []notebook.EntityExport

	err := s.db.Snapshot(ctx, func(tx store.Querier) error {
		found, err := entities(ctx, tx, q)
		if err != nil {
			return err
		}

		var ids []string

		for _, e := range found {
			page = append(page, notebook.EntityExport{EntityDetail: e})

			for _, id := range []*string{e.ProjectID, e.EpicID} {
				if id != nil {
					ids = append(ids, *id)
				}
			}
		}

		rows, err := tx.Query(ctx, `SELECT id, name FROM projects WHERE id = ANY ($1) UNION ALL SELECT id, name FROM epics WHERE id = ANY ($1)`, ids)
		if err != nil {
			return err
		}

		var id, name string

		names := map[string]string{}

		_, err = pgx.ForEachRow(rows, []any{&id, &name}, func() error {
			names[id] = name

			return nil
		})

		for i := range page {
			if page[i].ProjectID != nil {
				page[i].Project = names[*page[i].ProjectID]
			}

			if page[i].EpicID != nil {
				page[i].Epic = names[*page[i].EpicID]
			}
		}

		return err
	})

	return page, err
}
