package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// lockAndRun takes an advisory lock, runs a statement in a snapshot after it and commits, all as one message of the simple
// protocol. In a pipeline of several messages PostgreSQL would wait for the next one with the lock held, and none of its
// time limits holds there: between messages without a Sync a backend is neither idle in a transaction nor in a statement.
//
// The statement is prepared under its name, so it is planned once for each connection.
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
		// Its plan may be of a schema that has changed since.
		_ = conn.Deallocate(ctx, name)
	}

	return err
}

// eachRow reads the rows of the last of two results.
func eachRow(conn *pgx.Conn, results *pgconn.MultiResultReader, each func(pgx.CollectableRow) error) error {
	for first := true; results.NextResult(); first = false {
		if first {
			_, _ = results.ResultReader().Close() // its error comes again with that of all results

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

// detachedRow is a row that can fail to scan without ending the reading of those after it.
type detachedRow struct {
	pgx.Rows

	types *pgtype.Map
}

// Scan implements pgx.CollectableRow.
func (r detachedRow) Scan(dest ...any) error {
	return pgx.ScanRow(r.types, r.FieldDescriptions(), r.RawValues(), dest...)
}

// executeText is the SQL that executes a prepared statement with these values.
func executeText(types *pgtype.Map, statement *pgconn.StatementDescription, values []any) (string, error) {
	literals := make([]string, len(values))

	for i, value := range values {
		// Not appended to nil: that is what NULL is told by, and an empty text adds nothing.
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

// literal quotes a text for SQL. A backslash makes it an escape string, so that no setting of the server changes its meaning.
func literal(text string) string {
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(text, `\`) {
		return " E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}

	return quoted
}
