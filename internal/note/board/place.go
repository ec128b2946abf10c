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
	// orderLock is the advisory lock under which people order rows: of two who move at once, the second sees what the first did.
	orderLock = 0x7461727379_0b01
	// moveAttempts is how often a place is looked for. Rows are spread out after the first attempt, so the second one finds it unless
	// others fill it meanwhile.
	moveAttempts = 5
	// spacing is the distance of rows that are spread out at the end of a column, in seconds; see store.PositionAt.
	spacing = 1.0 / 16
	// tight is the smallest distance that spreading out leaves.
	tight = 1.0 / 4096
	// firstWindow is how many rows on each side are spread out first.
	firstWindow = 16
)

// column is a list that people order: a column of the board, the projects, the epics of a project.
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

// place is where a row stands in a column.
type place struct {
	ID       string
	Position float64
}

// crowded is the error of a place between two rows that no number is between.
type crowded struct {
	column column
	anchor place
}

func (crowded) Error() string { return "there is no number between two positions" }

// ordered runs a change that may place rows. If it finds no number between two rows, they are spread out and it runs again.
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

		// A transaction of its own: the failed one holds locks on rows, and these are locked in order of their ids.
		if err := locked(func(tx *store.Tx) error { return full.column.spread(ctx, tx, full.anchor) }); err != nil {
			return fmt.Errorf("spread out positions: %w", err)
		}
	}

	return tarsy.Errorf(tarsy.CodeConflict, "others move the same rows; try again")
}

// query reads places of the column. The rest of the statement follows the WHERE clause; its parameters come after the column's.
func (c column) query(ctx context.Context, tx *store.Tx, rest string, args ...any) ([]place, error) {
	rows, err := tx.Query(ctx, `SELECT id, position FROM `+c.table+` WHERE `+c.where+` `+rest, append(slices.Clip(c.args), args...)...)
	if err != nil {
		return nil, err
	}

	return pgx.CollectRows(rows, pgx.RowToStructByPos[place])
}

// param is the number of the nth parameter after the column's.
func (c column) param(n int) string { return fmt.Sprintf("$%d", len(c.args)+n) }

// end is the position behind all rows.
func (c column) end(ctx context.Context, tx *store.Tx) (float64, error) {
	last, err := c.query(ctx, tx, `ORDER BY position DESC, id DESC LIMIT 1`)
	if err != nil || len(last) == 0 {
		return store.PositionAt(tx.Now), err
	}

	return max(store.PositionAt(tx.Now), last[0].Position+spacing), nil
}

// beside is the position directly before or after an anchor, for a row that may be in the column already.
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

// spread gives the rows around an anchor new positions in the same order, as few rows as it takes. Their versions stay: nothing that a
// person could have read and meant has changed.
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

// spreadBetween gives rows positions at equal distances between two bounds, of which either may be missing. It reports false if that
// leaves too little between them.
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

// write stores positions. A row that left the column meanwhile keeps its own.
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

// neighbour is what a caller names to place a row beside.
type neighbour struct{ beforeID, afterID string }

// check checks the ids of a neighbour and returns the one that is given, if one is.
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

// field names the part of the request that names the neighbour.
func (n neighbour) field() string {
	if n.beforeID != "" {
		return "before_id"
	}

	return "after_id"
}

// find returns the position beside the neighbour in a column, for a row that may be in it already.
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

// move is the new position of a row of a column: beside the neighbour if one is given, else where it is, and at the end if it is new.
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
