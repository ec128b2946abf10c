package board

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// Tags lists tags in alphabetical order.
func (s *Service) Tags(ctx context.Context, q notebook.TagQuery) (notebook.TagPage, error) {
	page := notebook.TagPage{Tags: []notebook.Tag{}}

	err := s.db.Snapshot(ctx, func(tx store.Querier) error {
		c := &conditions{}
		if q.Search != "" {
			c.add("t.name ILIKE ?", containing(q.Search))
		}

		if q.Visible.Limited {
			c.add(`(NOT EXISTS (SELECT FROM entity_tags et WHERE et.tag = t.name)
				OR EXISTS (SELECT FROM entity_tags et JOIN entities e ON e.id = et.entity_id WHERE et.tag = t.name AND e.team = ANY (?)))`, q.Visible.Values())
		}

		if err := tx.QueryRow(ctx, `SELECT count(*) FROM tags t `+c.clause(), c.args...).Scan(&page.Total); err != nil {
			return err
		}

		if q.After != "" {
			c.add("t.name > ?", q.After)
		}

		rows, err := tx.Query(ctx, fmt.Sprintf(`
			SELECT t.name, (SELECT count(*) FROM entity_tags et JOIN entities e ON e.id = et.entity_id WHERE et.tag = t.name AND e.state = 'accepted')
			FROM tags t %s ORDER BY t.name LIMIT %d`, c.clause(), q.Limit+1), c.args...)
		if err != nil {
			return err
		}

		page.Tags, err = pgx.AppendRows(page.Tags, rows, pgx.RowToStructByPos[notebook.Tag])

		return err
	})
	if err != nil {
		return notebook.TagPage{}, fmt.Errorf("list tags: %w", err)
	}

	if len(page.Tags) > q.Limit {
		page.Tags = page.Tags[:q.Limit]
		page.Next = page.Tags[q.Limit-1].Name
	}

	return page, nil
}

// cleanTag returns the name of a tag as it is stored.
func (s *Service) cleanTag(name string) (string, error) {
	name, err := store.Name("name", name, store.MaxTag, s.mask)
	if err != nil {
		return "", err
	}

	clean, err := store.CleanTags([]string{name})
	if err != nil {
		return "", err
	}

	return clean[0], nil
}

func noTag(name string) error { return tarsy.Errorf(tarsy.CodeTagNotFound, "there is no tag %q", name) }

func tagEvent(name, author string) notebook.NotePayload {
	return notebook.NotePayload{Type: notebook.TypeTagChanged, Tag: name, Author: author}
}

// CreateTag stores a tag that no entity has yet.
func (s *Service) CreateTag(ctx context.Context, name, author string) (notebook.Tag, error) {
	name, err := s.cleanTag(name)
	if err != nil {
		return notebook.Tag{}, err
	}

	err = s.db.Change(ctx, func(tx *store.Tx) error {
		if _, err := tx.Exec(ctx, `INSERT INTO tags (name, created_at) VALUES ($1, $2)`, name, tx.Now); err != nil {
			return nameTaken(err, "a tag", name)
		}

		audit.Target(ctx, name)
		tx.Emit(tagEvent(name, author))

		return nil
	})

	return notebook.Tag{Name: name}, err
}

// RenameTag renames a tag on all entities that have it.
func (s *Service) RenameTag(ctx context.Context, old, name, author string) (notebook.Tag, error) {
	name, err := s.cleanTag(name)
	if err != nil {
		return notebook.Tag{}, err
	}

	tag := notebook.Tag{Name: name}

	err = s.db.Change(ctx, func(tx *store.Tx) error {
		if err := touchTagged(ctx, tx, old); err != nil {
			return err
		}

		audit.Detail(ctx, "name", name)

		found, err := tx.Exec(ctx, `UPDATE tags SET name = $2 WHERE name = $1`, old, name)
		if err != nil {
			return nameTaken(err, "a tag", name)
		}

		if found.RowsAffected() == 0 {
			return noTag(old)
		}

		tx.Emit(tagEvent(old, author))
		tx.Emit(tagEvent(name, author))

		return tx.QueryRow(ctx, `
			SELECT count(*) FROM entity_tags et JOIN entities e ON e.id = et.entity_id WHERE et.tag = $1 AND e.state = 'accepted'`, name).Scan(&tag.EntityCount)
	})

	return tag, err
}

// DeleteTag deletes a tag and removes it from all entities.
func (s *Service) DeleteTag(ctx context.Context, name, author string) error {
	return s.db.Change(ctx, func(tx *store.Tx) error {
		if err := touchTagged(ctx, tx, name); err != nil {
			return err
		}

		found, err := tx.Exec(ctx, `DELETE FROM tags WHERE name = $1`, name)
		if err != nil {
			return err
		}

		if found.RowsAffected() == 0 {
			return noTag(name)
		}

		tx.Emit(tagEvent(name, author))

		return nil
	})
}

// touchTagged gives the entities that have a tag a new version, so that a pending edit of one of them cannot restore the old tag.
func touchTagged(ctx context.Context, tx *store.Tx, tag string) error {
	return refresh(ctx, tx, `id IN (SELECT entity_id FROM entity_tags WHERE tag = $1)`, "", tag)
}
