package store

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/notebook"
)

// NoEntity is the error for an entity that does not exist.
func NoEntity(id string) error {
	return tarsy.Errorf(tarsy.CodeEntityNotFound, "there is no entity %s", id)
}

// Entities reads entities with their tags and sources. rest follows FROM entities e, such as "WHERE e.id = $1 ORDER BY e.created_at".
func Entities(ctx context.Context, q Querier, rest string, args ...any) ([]notebook.EntityDetail, error) {
	entities, err := collect[notebook.Entity](ctx, q, `SELECT `+postgres.ColumnsOf[notebook.Entity]().Of("e")+` FROM entities e `+rest, args...)
	if err != nil {
		return nil, err
	}

	return withDetails(ctx, q, entities)
}

// Entity reads an entity with its tags and sources.
func Entity(ctx context.Context, q Querier, id string) (notebook.EntityDetail, error) {
	found, err := Entities(ctx, q, `WHERE e.id = $1`, id)
	if err != nil {
		return notebook.EntityDetail{}, err
	}

	if len(found) == 0 {
		return notebook.EntityDetail{}, NoEntity(id)
	}

	return found[0], nil
}

// LockEntities reads entities, ordered by ID, and locks them until the end of the transaction. Missing ones are left out.
func LockEntities(ctx context.Context, tx *Tx, ids ...string) ([]notebook.EntityDetail, error) {
	return Entities(ctx, tx, `WHERE e.id = ANY($1) ORDER BY e.id FOR UPDATE`, ids)
}

// LockEntityRows is LockEntities without tags and sources.
func LockEntityRows(ctx context.Context, tx *Tx, ids ...string) ([]notebook.Entity, error) {
	return collect[notebook.Entity](ctx, tx,
		`SELECT `+postgres.ColumnsOf[notebook.Entity]().Of("e")+` FROM entities e WHERE e.id = ANY($1) ORDER BY e.id FOR UPDATE`, ids)
}

// LockEntity reads an entity and locks it until the end of the transaction.
func LockEntity(ctx context.Context, tx *Tx, id string) (notebook.EntityDetail, error) {
	found, err := LockEntities(ctx, tx, id)
	if err != nil {
		return notebook.EntityDetail{}, err
	}

	if len(found) == 0 {
		return notebook.EntityDetail{}, NoEntity(id)
	}

	return found[0], nil
}

func withDetails(ctx context.Context, q Querier, entities []notebook.Entity) ([]notebook.EntityDetail, error) {
	details := make([]notebook.EntityDetail, len(entities))
	ids := make([]string, len(entities))
	at := make(map[string]int, len(entities))

	for i, e := range entities {
		// No tags or sources are empty lists in JSON, not null.
		details[i] = notebook.EntityDetail{Entity: e, Tags: []string{}, Sources: []notebook.EntitySource{}}
		ids[i], at[e.ID] = e.ID, i
	}

	if len(ids) == 0 {
		return details, nil
	}

	type tagged struct {
		EntityID string
		Tag      string
	}

	var (
		batch   pgx.Batch
		sources []notebook.EntitySource
		tags    []tagged
	)

	into(&batch, &sources, `
		SELECT `+postgres.ColumnsOf[notebook.EntitySource]().List()+` FROM entity_sources WHERE entity_id = ANY($1) ORDER BY entity_id, note_id, start_offset`, ids)
	into(&batch, &tags, `SELECT entity_id, tag FROM entity_tags WHERE entity_id = ANY($1) ORDER BY entity_id, tag`, ids)

	if err := q.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, err
	}

	for _, s := range sources {
		details[at[s.EntityID]].Sources = append(details[at[s.EntityID]].Sources, s)
	}

	for _, t := range tags {
		details[at[t.EntityID]].Tags = append(details[at[t.EntityID]].Tags, t.Tag)
	}

	return details, nil
}

// positionEpoch keeps positions small, which leaves more of a float64's precision for the numbers between them.
var positionEpoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// PositionAt returns the position of a row created at a time, after everything older: the seconds since an epoch. It needs neither a query
// nor a lock; rows of the same moment are ordered by ID.
func PositionAt(at time.Time) float64 { return at.Sub(positionEpoch).Seconds() }

// InsertEntity stores a new entity with its tags and sources. The default position is that of its creation time. The statements are queued.
func InsertEntity(tx *Tx, e notebook.EntityDetail) {
	if e.Position == 0 {
		e.Position = PositionAt(e.CreatedAt)
	}

	tx.queue(`
		INSERT INTO entities (id, note_id, note_version, session_id, type, title, content, owner, due_on, status, state, confidence, project_id,
			epic_id, position, merged_into, created_by, edited_by, created_at, updated_at, organized_at, version)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)`,
		e.ID, e.NoteID, e.NoteVersion, e.SessionID, e.Type, e.Title, e.Content, e.Owner, e.DueOn, e.Status, e.State, e.Confidence, e.ProjectID,
		e.EpicID, e.Position, e.MergedInto, e.CreatedBy, e.EditedBy, e.CreatedAt, e.UpdatedAt, e.OrganizedAt, e.Version)

	addTags(tx, e.ID, e.Tags)
	AddSources(tx, e.Sources)
}

// UpdateEntity stores a changed entity with the next version and the time of the change, and returns it updated. The caller has locked the
// row. Tags and sources are stored separately. The statement is queued.
func UpdateEntity(tx *Tx, e notebook.Entity) notebook.Entity {
	e.Version++
	e.UpdatedAt = tx.Now

	tx.queue(`
		UPDATE entities SET type = $2, title = $3, content = $4, owner = $5, due_on = $6, status = $7, state = $8, project_id = $9, epic_id = $10,
			position = $11, merged_into = $12, edited_by = $13, updated_at = $14, organized_at = $15, version = $16
		WHERE id = $1`,
		e.ID, e.Type, e.Title, e.Content, e.Owner, e.DueOn, e.Status, e.State, e.ProjectID, e.EpicID, e.Position, e.MergedInto, e.EditedBy,
		e.UpdatedAt, e.OrganizedAt, e.Version)

	return e
}

// AddSources stores the passages that an entity came from. Existing ones are kept. The statement is queued.
func AddSources(tx *Tx, sources []notebook.EntitySource) {
	if len(sources) == 0 {
		return
	}

	var (
		entities, notes, quotes []string
		starts, ends            []int
	)

	for _, s := range sources {
		entities, notes, quotes = append(entities, s.EntityID), append(notes, s.NoteID), append(quotes, s.Quote)
		starts, ends = append(starts, s.StartOffset), append(ends, s.EndOffset)
	}

	tx.queue(`
		INSERT INTO entity_sources (entity_id, note_id, quote, start_offset, end_offset)
		SELECT s.entity_id, s.note_id, s.quote, s.start_offset, s.end_offset
		FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::integer[], $5::integer[]) AS s (entity_id, note_id, quote, start_offset, end_offset)
		ON CONFLICT DO NOTHING`, entities, notes, quotes, starts, ends)
}

// SetTags replaces the tags of an entity. Tags that do not exist yet are created; see CleanTags. The statements are queued.
func SetTags(tx *Tx, entityID string, tags []string) {
	if tags == nil {
		tags = []string{}
	}

	tx.queue(`DELETE FROM entity_tags WHERE entity_id = $1 AND tag <> ALL($2)`, entityID, tags)
	addTags(tx, entityID, tags)
}

func addTags(tx *Tx, entityID string, tags []string) {
	if len(tags) == 0 {
		return
	}

	// Insert in order, so that two changes with the same new tags do not deadlock.
	tx.queue(`INSERT INTO tags (name, created_at) SELECT t, $2 FROM unnest($1::text[]) AS t ORDER BY t ON CONFLICT DO NOTHING`, tags, tx.Now)
	tx.queue(`INSERT INTO entity_tags (entity_id, tag) SELECT $1, t FROM unnest($2::text[]) AS t ON CONFLICT DO NOTHING`, entityID, tags)
}
