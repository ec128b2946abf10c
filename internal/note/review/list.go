package review

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Items lists review items. If only open ones are selected, the oldest comes first, because it has waited longest.
func (s *Service) Items(ctx context.Context, query notebook.ReviewQuery) (notebook.ReviewPage, error) {
	page := notebook.ReviewPage{Items: []notebook.ReviewDetail{}}

	err := s.store.Snapshot(ctx, func(q store.Querier) error {
		where, args := conditions(query)

		err := q.QueryRow(ctx, `SELECT count(*) FROM review_items r `+where.sql(), args...).Scan(&page.Total)
		if err != nil {
			return fmt.Errorf("count review items: %w", err)
		}

		open, openArgs := conditions(notebook.ReviewQuery{Statuses: []notebook.ReviewStatus{notebook.ReviewOpen}, Visible: query.Visible})

		err = q.QueryRow(ctx, `SELECT count(*) FROM review_items r `+open.sql(), openArgs...).Scan(&page.OpenCount)
		if err != nil {
			return fmt.Errorf("count open review items: %w", err)
		}

		compare, direction := "<", "DESC"
		if onlyOpen(query) {
			compare, direction = ">", "ASC"
		}

		if query.After != nil {
			args = append(args, query.After.CreatedAt, query.After.ID)
			where = append(where, fmt.Sprintf(`(r.created_at, r.id) %s ($%d, $%d)`, compare, len(args)-1, len(args)))
		}

		// Read one more to detect whether there is a next page.
		args = append(args, query.Limit+1)
		rest := fmt.Sprintf(`%s ORDER BY r.created_at %[2]s, r.id %[2]s LIMIT $%[3]d`, where.sql(), direction, len(args))

		items, err := store.ReviewItems(ctx, q, rest, args...)
		if err != nil {
			return fmt.Errorf("list review items: %w", err)
		}

		if len(items) > query.Limit {
			items = items[:query.Limit]
			last := items[len(items)-1]
			page.Next = &notebook.TimeCursor{CreatedAt: last.CreatedAt, ID: last.ID}
		}

		page.Items, err = details(ctx, q, items)

		return err
	})

	return page, err
}

// Item reads a review item with everything needed to decide it.
func (s *Service) Item(ctx context.Context, id string) (notebook.ReviewDetail, error) {
	var detail notebook.ReviewDetail

	err := s.store.Snapshot(ctx, func(q store.Querier) error {
		item, err := readItem(ctx, q, id)
		if err != nil {
			return err
		}

		found, err := details(ctx, q, []notebook.ReviewItem{item})
		if err != nil {
			return err
		}

		detail = found[0]

		return nil
	})

	return detail, err
}

func onlyOpen(query notebook.ReviewQuery) bool {
	return slices.Equal(query.Statuses, []notebook.ReviewStatus{notebook.ReviewOpen})
}

// where is a conjunction of conditions.
type where []string

func (w where) sql() string {
	if len(w) == 0 {
		return ""
	}

	return `WHERE ` + strings.Join(w, ` AND `)
}

// conditions returns the conditions of a query with their arguments. Unset fields add none, so that the set ones can use their index.
func conditions(query notebook.ReviewQuery) (where, []any) {
	var (
		w    where
		args []any
	)

	add := func(condition string, arg any) {
		args = append(args, arg)
		w = append(w, strings.ReplaceAll(condition, "$?", fmt.Sprintf("$%d", len(args))))
	}

	if len(query.Kinds) > 0 {
		add(`r.kind = ANY($?)`, query.Kinds)
	}

	// The index of open items is partial, so the planner must see the status as a literal.
	if onlyOpen(query) {
		w = append(w, `r.status = 'open'`)
	} else if len(query.Statuses) > 0 {
		add(`r.status = ANY($?)`, query.Statuses)
	}

	if query.ProjectID != "" {
		add(`(r.project_id = $?::uuid OR r.proposal->>'assign_project_id' = $?::uuid::text
			OR EXISTS (SELECT FROM entities e WHERE e.id = r.entity_id AND e.project_id = $?::uuid))`, query.ProjectID)
	}

	if query.Visible.Limited {
		add(`r.team = ANY($?)`, query.Visible.Values())
	}

	if query.NoteID != "" {
		add(`r.note_id = $?`, query.NoteID)
	}

	if query.EntityID != "" {
		add(`r.entity_id = $?`, query.EntityID)
	}

	return w, args
}
