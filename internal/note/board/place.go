package board

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

const (
	// orderLock is the advisory lock that serializes the ordering of rows, so that of two concurrent moves the second sees the first.
	orderLock = 0x7461727379_0b01
	// moveAttempts is how often finding a position is tried. Rows are spread out after the first attempt, so the second one succeeds unless
	// others fill the gap in between.
	moveAttempts = 5
	// spacing is the distance between rows that are spread out at the end of a column, in seconds; see store.PositionAt.
	spacing = 1.0 / 16
	// tight is the smallest distance that spreading out leaves between rows.
	tight = 1.0 / 4096
	// firstWindow is how many rows on each side the first try spreads out.
	firstWindow = 16
)

// column is a manually ordered list: a column of the board, the projects, or the epics of a project.
type column struct {
	table string
	// where selects the rows of the column; its parameters are numbered from $1.
	where string
	args  []any
}

func statusColumn(status notebook.EntityStatus) column {
	return column{table: "entities", where: "status = $1", args: []any{string(status)}}
}

func projectColumn() column { return column{table: "projects", where: "true"} }

func epicColumn(projectID string) column {
	return column{table: "epics", where: "project_id = $1", args: []any{projectID}}
}

// place is the position of a row in a column.
type place struct {
	ID       string
	Position float64
}

// crowded is the error if there is no number between the positions of two rows.
type crowded struct {
	column column
	anchor place
}

func (crowded) Error() string { return "there is no number between two positions" }

// ordered runs a change that can place rows. If there is no number between two rows, it spreads them out and runs the change again.
func (s *Service) ordered(ctx context.Context, change func(*store.Tx) error) error {
	locked := func(change func(*store.Tx) error) error {
		return s.db.Change(ctx, func(tx *store.Tx) error {
			if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(orderLock)); err != nil {
				return err
			}

			return change(tx)
		})
	}

	for range moveAttempts {
		err := locked(change)

		full, ok := errors.AsType[crowded](err)
		if !ok {
			return err
		}

		// Use a separate transaction: the failed one has locked rows, and these must be locked in order of their IDs.
		if err := locked(func(tx *store.Tx) error { return full.column.spread(ctx, tx, full.anchor) }); err != nil {
			return fmt.Errorf("spread out positions: %w", err)
		}
	}

	return tarsy.Errorf(tarsy.CodeConflict, "the same rows are being moved concurrently; try again")
}

// query reads places of the column. rest follows the WHERE clause; its parameters are numbered after the column's.
func (c column) query(ctx context.Context, tx *store.Tx, rest string, args ...any) ([]place, error) {
	rows, err := tx.Query(ctx, `SELECT id, position FROM `+c.table+` WHERE `+c.where+` `+rest, append(slices.Clip(c.args), args...)...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByPos[place])
}

// param returns the placeholder of the nth parameter after the column's.
func (c column) param(n int) string { return fmt.Sprintf("$%d", len(c.args)+n) }

// end returns the position after all rows.
func (c column) end(ctx context.Context, tx *store.Tx) (float64, error) {
	last, err := c.query(ctx, tx, `ORDER BY position DESC, id DESC LIMIT 1`)
	if err != nil || len(last) == 0 {
		return store.PositionAt(tx.Now), err
	}

	return max(store.PositionAt(tx.Now), last[0].Position+spacing), nil
}

// beside returns the position directly before or after an anchor, for a row that may already be in the column.
func (c column) beside(ctx context.Context, tx *store.Tx, moved string, anchor place, before bool) (float64, error) {
	rest := `AND id <> %s AND (position, id) > (%s, %s) ORDER BY position, id LIMIT 1`
	if before {
		rest = `AND id <> %s AND (position, id) < (%s, %s) ORDER BY position DESC, id DESC LIMIT 1`
	}

	next, err := c.query(ctx, tx, fmt.Sprintf(rest, c.param(1), c.param(2), c.param(3)), moved, anchor.Position, anchor.ID)
	if err != nil {
		return 0, err
	}

	switch {
	case len(next) > 0:
		middle := anchor.Position + (next[0].Position-anchor.Position)/2
		if middle == anchor.Position || middle == next[0].Position {
			return 0, crowded{c, anchor}
		}

		return middle, nil
	case before:
		return anchor.Position - spacing, nil
	default:
		return anchor.Position + spacing, nil
	}
}

// spread gives the rows around an anchor new positions in the same order, changing as few rows as possible. It does not change their
// versions, because nothing that a person could have read or edited has changed.
func (c column) spread(ctx context.Context, tx *store.Tx, anchor place) error {
	for window := firstWindow; ; window *= 4 {
		rest := `AND (position, id) <= (%s, %s) ORDER BY position DESC, id DESC LIMIT %s`

		below, err := c.query(ctx, tx, fmt.Sprintf(rest, c.param(1), c.param(2), c.param(3)), anchor.Position, anchor.ID, window+1)
		if err != nil {
			return err
		}

		rest = `AND (position, id) > (%s, %s) ORDER BY position, id LIMIT %s`

		above, err := c.query(ctx, tx, fmt.Sprintf(rest, c.param(1), c.param(2), c.param(3)), anchor.Position, anchor.ID, window+1)
		if err != nil {
			return err
		}

		var from, to *float64
		if len(below) > window {
			from, below = &below[window].Position, below[:window]
		}

		if len(above) > window {
			to, above = &above[window].Position, above[:window]
		}

		slices.Reverse(below)

		if rows := slices.Concat(below, above); spreadBetween(rows, from, to) {
			return c.write(ctx, tx, rows)
		}
	}
}

// spreadBetween gives rows equidistant positions between two bounds, either of which may be nil. It returns false if the rows end up too
// close together.
func spreadBetween(rows []place, from, to *float64) bool {
	if len(rows) == 0 {
		return true
	}

	first, distance := rows[0].Position, spacing

	switch {
	case from != nil && to != nil:
		distance = (*to - *from) / float64(len(rows)+1)
		first = *from + distance
	case from != nil:
		first = *from + distance
	case to != nil:
		first = *to - distance*float64(len(rows))
	}

	for i := range rows {
		rows[i].Position = first + float64(i)*distance
	}

	return distance >= tight
}

// write stores positions. A row that has left the column in the meantime keeps its position.
func (c column) write(ctx context.Context, tx *store.Tx, rows []place) error {
	ids, positions := make([]string, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		ids[i], positions[i] = row.ID, row.Position
	}

	if _, err := tx.Exec(ctx, `SELECT id FROM `+c.table+` WHERE id = ANY($1) ORDER BY id FOR UPDATE`, ids); err != nil {
		return err
	}

	_, err := tx.Exec(ctx, fmt.Sprintf(`
		UPDATE %s SET position = placed.to_position FROM unnest(%s::uuid[], %s::double precision[]) AS placed (row_id, to_position)
		WHERE id = placed.row_id AND %s`, c.table, c.param(1), c.param(2), c.where), append(slices.Clip(c.args), ids, positions)...)

	return err
}

// neighbour is the row that a caller names to place another row next to it.
type neighbour struct{ beforeID, afterID string }

// check validates the IDs and returns the one that is set, if any.
func (n neighbour) check() (id string, before bool, err error) {
	if n.beforeID != "" && n.afterID != "" {
		return "", false, tarsy.FieldErrorf(tarsy.CodeInvalidField, "after_id", "before_id and after_id are given; send one of them")
	}

	for field, id := range map[string]string{"before_id": n.beforeID, "after_id": n.afterID} {
		if id != "" && !ident.Valid(id) {
			return "", false, tarsy.FieldErrorf(tarsy.CodeInvalidField, field, "%s must be an id", field)
		}
	}

	if n.beforeID != "" {
		return n.beforeID, true, nil
	}

	return n.afterID, false, nil
}

// field returns the name of the request field that names the neighbour.
func (n neighbour) field() string {
	if n.beforeID != "" {
		return "before_id"
	}

	return "after_id"
}

// find returns the position next to the neighbour in a column, for a row that may already be in it.
func (n neighbour) find(ctx context.Context, tx *store.Tx, c column, moved string) (float64, error) {
	id, before, err := n.check()
	if err != nil {
		return 0, err
	}

	if id == moved {
		return 0, tarsy.FieldErrorf(tarsy.CodeInvalidField, n.field(), "%s names the row that is moved", n.field())
	}

	anchor, err := c.query(ctx, tx, `AND id = `+c.param(1), id)
	if err != nil {
		return 0, err
	}

	if len(anchor) == 0 {
		return 0, tarsy.FieldErrorf(tarsy.CodeConflict, n.field(), "%s is not in this column any more; load the list and try again", id)
	}

	return c.beside(ctx, tx, moved, anchor[0], before)
}

// move returns the new position of a row: next to the neighbour if there is one, else unchanged, or at the end if the row is new.
func (p place) move(ctx context.Context, tx *store.Tx, c column, beside neighbour) (float64, error) {
	switch {
	case beside != neighbour{}:
		return beside.find(ctx, tx, c, p.ID)
	case p.Position != 0:
		return p.Position, nil
	default:
		return c.end(ctx, tx)
	}
}
