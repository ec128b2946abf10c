package board

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// conditions holds the parts of a WHERE clause and their parameters.
type conditions struct {
	where []string
	args  []any
}

// add adds a condition; each ? in it is replaced with the parameter's placeholder.
func (c *conditions) add(condition string, arg any) {
	c.args = append(c.args, arg)
	c.where = append(c.where, strings.ReplaceAll(condition, "?", fmt.Sprintf("$%d", len(c.args))))
}

func (c *conditions) clause() string {
	if len(c.where) == 0 {
		return ""
	}

	return "WHERE " + strings.Join(c.where, " AND ")
}

// with returns a copy with one more condition.
func (c *conditions) with(condition string, arg any) *conditions {
	more := &conditions{where: slices.Clone(c.where), args: slices.Clone(c.args)}
	more.add(condition, arg)

	return more
}

// matching turns a query into conditions on entities e, except for its statuses, which the board order handles column by column.
func matching(q notebook.EntityQuery) *conditions {
	c := &conditions{}

	anyOf(c, "e.type", q.Types)
	anyOf(c, "e.state", q.States)

	for _, equal := range []struct{ condition, value string }{
		{"e.project_id = ?", q.ProjectID},
		{"e.epic_id = ?", q.EpicID},
		{"e.session_id = ?", q.SessionID},
		// This is an array and not a join, because the planner would scan all entities to find the few of a note.
		{"e.id = ANY (ARRAY (SELECT s.entity_id FROM entity_sources s WHERE s.note_id = ?))", q.NoteID},
		{"e.id IN (SELECT t.entity_id FROM entity_tags t WHERE t.tag = ?)", strings.ToLower(q.Tag)},
		{"e.owner <> '' AND lower(e.owner) = lower(?)", q.Owner},
		{"e.words @> search_tokens(?)", q.Search},
	} {
		if equal.value != "" {
			c.add(equal.condition, equal.value)
		}
	}

	if q.DueFrom != nil {
		c.add("e.due_on >= ?", *q.DueFrom)
	}

	if q.DueTo != nil {
		c.add("e.due_on <= ?", *q.DueTo)
	}

	if q.Visible.Limited {
		c.add("e.team = ANY (?)", q.Visible.Values())
	}

	if q.Unfiled {
		c.where = append(c.where, "e.project_id IS NULL")
	}

	return c
}

// anyOf adds the condition that a column has one of values. A single value uses =, so that an index can provide the order too.
func anyOf[S ~string](c *conditions, name string, values []S) {
	switch len(values) {
	case 0:
	case 1:
		c.add(name+" = ?", string(values[0]))
	default:
		texts := make([]string, len(values))
		for i, value := range values {
			texts[i] = string(value)
		}

		c.add(name+" = ANY (?)", texts)
	}
}

// Entities lists entities, newest first or in the order of the board.
func (s *Service) Entities(ctx context.Context, q notebook.EntityQuery) (notebook.EntityPage, error) {
	var page notebook.EntityPage

	err := s.db.Snapshot(ctx, func(tx store.Querier) (err error) {
		all := matching(q)
		anyOf(all, "e.status", q.Statuses)

		if err := tx.QueryRow(ctx, `SELECT count(*) FROM entities e `+all.clause(), all.args...).Scan(&page.Total); err != nil {
			return err
		}

		page.Entities, err = entities(ctx, tx, q)

		return err
	})
	if err != nil {
		return notebook.EntityPage{}, fmt.Errorf("list entities: %w", err)
	}

	if len(page.Entities) > q.Limit {
		page.Entities = page.Entities[:q.Limit]
		last := page.Entities[q.Limit-1]

		if page.Next = (&notebook.EntityCursor{CreatedAt: last.CreatedAt, ID: last.ID}); q.Board {
			page.Next = &notebook.EntityCursor{Status: last.Status, Position: last.Position, ID: last.ID}
		}
	}

	return page, nil
}

// entities reads up to one entity more than the limit of a query.
func entities(ctx context.Context, tx store.Querier, q notebook.EntityQuery) ([]notebook.EntityDetail, error) {
	if q.Board {
		return boardEntities(ctx, tx, q)
	}

	c := matching(q)
	anyOf(c, "e.status", q.Statuses)

	if q.After != nil {
		c.args = append(c.args, q.After.CreatedAt, q.After.ID)
		c.where = append(c.where, fmt.Sprintf("(e.created_at, e.id) < ($%d, $%d)", len(c.args)-1, len(c.args)))
	}

	return store.Entities(ctx, tx, fmt.Sprintf(`%s ORDER BY e.created_at DESC, e.id DESC LIMIT %d`, c.clause(), q.Limit+1), c.args...)
}

// boardEntities reads one column after the other: an index provides the order within a column, but not that of the columns.
func boardEntities(ctx context.Context, tx store.Querier, q notebook.EntityQuery) ([]notebook.EntityDetail, error) {
	found := []notebook.EntityDetail{}
	after := q.After

	for _, status := range notebook.EntityStatuses() {
		if len(q.Statuses) > 0 && !slices.Contains(q.Statuses, status) || after != nil && after.Status != status {
			continue
		}

		c := matching(q).with("e.status = ?", string(status))

		if after != nil {
			c.args = append(c.args, after.Position, after.ID)
			c.where = append(c.where, fmt.Sprintf("(e.position, e.id) > ($%d, $%d)", len(c.args)-1, len(c.args)))
			after = nil
		}

		column, err := store.Entities(ctx, tx,
			fmt.Sprintf(`%s ORDER BY e.position, e.id LIMIT %d`, c.clause(), q.Limit+1-len(found)), c.args...)
		if err != nil {
			return nil, err
		}

		if found = append(found, column...); len(found) > q.Limit {
			break
		}
	}

	return found, nil
}
