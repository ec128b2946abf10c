package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// lockAndRun takes an advisory lock, runs a statement in a snapshot taken after it and commits, all as one message of the simple
// protocol. In a pipeline of several messages PostgreSQL would hold the lock while it waits for the next one, and none of its
// time limits would apply: between messages without a Sync a backend is neither idle in a transaction nor running a statement.
//
// The statement is prepared under its name, so it is planned once per connection.
func lockAndRun(ctx context.Context, conn *pgx.Conn, lock int64, name, sql string, args pgx.NamedArgs, each func(pgx.CollectableRow) error) error {
	sql, values, err := args.RewriteQuery(ctx, conn, sql, nil)
	if err != nil {
		return err
	}

	statement, err := conn.Prepare(ctx, name, sql)
	if err != nil {
		return fmt.Errorf("prepare: %w", err)
	}

	execute, err := executeText(conn.TypeMap(), statement, values)
	if err != nil {
		return err
	}

	err = eachRow(conn, conn.PgConn().Exec(ctx, fmt.Sprintf("SELECT pg_advisory_xact_lock(%d); %s", lock, execute)), each)
	if isCleanError(err) {
		// Its plan may belong to a schema that has changed since.
		_ = conn.Deallocate(ctx, name)
	}

	return err
}

// eachRow passes the rows of the second of two results to each.
func eachRow(conn *pgx.Conn, results *pgconn.MultiResultReader, each func(pgx.CollectableRow) error) error {
	for first := true; results.NextResult(); first = false {
		if first {
			_, _ = results.ResultReader().Close() // results.Close returns its error again

			continue
		}

		rows := pgx.RowsFromResultReader(conn.TypeMap(), results.ResultReader())
		for rows.Next() {
			if err := each(detachedRow{Rows: rows, types: conn.TypeMap()}); err != nil {
				_ = results.Close()

				return err
			}
		}
	}

	return results.Close()
}

// detachedRow is a row whose Scan can fail without ending the reading of later rows.
type detachedRow struct {
	pgx.Rows

	types *pgtype.Map
}

// Scan implements pgx.CollectableRow.
func (r detachedRow) Scan(dest ...any) error {
	return pgx.ScanRow(r.types, r.FieldDescriptions(), r.RawValues(), dest...)
}

// executeText returns the SQL that executes a prepared statement with these values.
func executeText(types *pgtype.Map, statement *pgconn.StatementDescription, values []any) (string, error) {
	literals := make([]string, len(values))

	for i, value := range values {
		// Appended to an empty slice, because a nil result means NULL and an empty text adds nothing.
		text, err := types.Encode(statement.ParamOIDs[i], pgtype.TextFormatCode, value, []byte{})
		if err != nil {
			return "", fmt.Errorf("encode parameter %d: %w", i+1, err)
		}

		literals[i] = "NULL"
		if text != nil {
			literals[i] = literal(string(text))
		}
	}

	return "EXECUTE " + pgx.Identifier{statement.Name}.Sanitize() + " (" + strings.Join(literals, ", ") + ")", nil
}

// literal quotes a text for SQL. A text with a backslash becomes an escape string, so that no setting of the server changes its meaning.
func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}

	return quoted
}
