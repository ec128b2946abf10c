package dump

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// loader fills the tables of a new schema in one transaction.
type loader struct {
	conn   *pgx.Conn
	file   *backup
	report *reporter
	target target
	found  *catalog
	// foreignKeys are the statements that add the dropped foreign keys again.
	foreignKeys []string
}

// run loads, verifies and commits. Foreign keys are dropped during the load and added again, which checks them. Triggers are off,
// because the rows that they wrote are in the backup. Both need no other rights than those of the owner of the tables.
func (l *loader) run(ctx context.Context) error {
	tx, err := l.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("begin to load the rows: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after a commit there is nothing to roll back

	for _, step := range []func(context.Context) error{l.begin, l.loadTables, l.setSequences, l.verify, l.end} {
		if err := step(ctx); err != nil {
			return err
		}
	}

	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("commit the restored rows: %w", err)
	}

	return nil
}

// begin locks the tables for this transaction, and verifies that no server has begun to work on them.
func (l *loader) begin(ctx context.Context) error {
	if err := fixSettings(ctx, l.conn); err != nil {
		return err
	}

	var err error
	if l.found, err = readCatalog(ctx, l.conn); err != nil {
		return err
	}

	if _, err := l.conn.Exec(ctx, "LOCK TABLE "+l.found.names()+" IN ACCESS EXCLUSIVE MODE"); err != nil {
		return fmt.Errorf("lock the tables: %w", err)
	}

	if used, err := l.target.holdsRows(ctx, l.found); err != nil {
		return err
	} else if used {
		return errInUse
	}

	if err := l.checkComplete(); err != nil {
		return err
	}

	if err := l.dropForeignKeys(ctx); err != nil {
		return fmt.Errorf("drop the foreign keys while rows are loaded: %w", err)
	}

	if err := l.triggers(ctx, "DISABLE"); err != nil {
		return err
	}

	for _, name := range versionTables() {
		if _, err := l.conn.Exec(ctx, "DELETE FROM "+quote(name)); err != nil {
			return fmt.Errorf("prepare the table %s: %w", name, err)
		}
	}

	return nil
}

const foreignKeysSQL = `
SELECT 'ALTER TABLE ' || conrelid::regclass || ' DROP CONSTRAINT ' || quote_ident(conname),
    'ALTER TABLE ' || conrelid::regclass || ' ADD CONSTRAINT ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
FROM pg_constraint WHERE contype = 'f' AND connamespace = quote_ident(current_schema())::regnamespace AND conrelid = ANY ($1::text[]::regclass[])
ORDER BY 1`

func (l *loader) dropForeignKeys(ctx context.Context) error {
	tables := make([]string, len(l.found.tables))
	for i, t := range l.found.tables {
		tables[i] = quote(t.Name)
	}

	rows, err := l.conn.Query(ctx, foreignKeysSQL, tables)
	if err != nil {
		return err
	}

	var (
		drops     []string
		drop, add string
	)

	if _, err := pgx.ForEachRow(rows, []any{&drop, &add}, func() error {
		drops, l.foreignKeys = append(drops, drop), append(l.foreignKeys, add)

		return nil
	}); err != nil {
		return err
	}

	for _, statement := range drops {
		if _, err := l.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}

	return nil
}

// triggers enables or disables the triggers of all tables. In a schema made by migrations all of them are enabled.
func (l *loader) triggers(ctx context.Context, change string) error {
	for _, t := range l.found.tables {
		if _, err := l.conn.Exec(ctx, "ALTER TABLE "+quote(t.Name)+" "+change+" TRIGGER USER"); err != nil {
			return fmt.Errorf("switch the triggers of the table %s: %w", t.Name, err)
		}
	}

	return nil
}

func (l *loader) loadTables(ctx context.Context) error {
	for i, t := range l.file.manifest.Tables {
		var counted counter

		end := l.report.begin(func() string {
			return fmt.Sprintf("loading table %d of %d, %s: %s so far…", i+1, len(l.file.manifest.Tables), t.Name, Size(counted.Load()))
		})
		err := l.loadTable(ctx, t, &counted)

		end()

		if err != nil {
			return err
		}
	}

	return nil
}

func (l *loader) loadTable(ctx context.Context, t Table, counted io.Writer) error {
	created, ok := l.found.table(t.Name)
	if !ok {
		return fmt.Errorf("%s has the table %s, which the migrations that it names do not create", l.file.path, t.Name)
	}

	if !sameColumns(created.Columns, t.Columns) {
		return fmt.Errorf("the table %s has the columns %v in %s, and %v in the schema of the migrations that it names", t.Name, t.Columns, l.file.path, created.Columns)
	}

	entry, err := l.file.zip.Open(t.entry())
	if err != nil {
		return fmt.Errorf("read the backup: %w", err)
	}
	defer entry.Close() //nolint:errcheck // it was only read

	reading := &reader{from: io.TeeReader(entry, counted)}

	loaded, err := l.conn.PgConn().CopyFrom(ctx, reading, "COPY "+quote(t.Name)+" ("+t.columnList()+") FROM STDIN")
	if reading.failed != nil || isBadRow(err) {
		return fmt.Errorf("%s is damaged: the rows of the table %s cannot be read: %w", l.file.path, t.Name, cmp.Or(reading.failed, err))
	}

	if err != nil {
		return fmt.Errorf("load the table %s: %w", t.Name, err)
	}

	if loaded.RowsAffected() != t.Rows {
		return fmt.Errorf("%s is damaged: the table %s has %d rows, and its manifest says %d", l.file.path, t.Name, loaded.RowsAffected(), t.Rows)
	}

	return nil
}

// reader remembers why reading failed: PostgreSQL reports only that the stream ended.
type reader struct {
	from   io.Reader
	failed error
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.failed = err
	}

	return n, err
}

// isBadRow reports whether PostgreSQL rejected a row, rather than that the database is in trouble.
func isBadRow(err error) bool {
	const invalidData, violation = "22", "23"

	refused, ok := errors.AsType[*pgconn.PgError](err)

	return ok && (strings.HasPrefix(refused.Code, invalidData) || strings.HasPrefix(refused.Code, violation))
}

// checkComplete rejects a backup that lacks a part of the schema. The journal of notes may be missing: databases of early
// releases have none, and every migration creates its tables.
func (l *loader) checkComplete() error {
	var has, needs []string

	for _, t := range l.file.manifest.Tables {
		has = append(has, t.Name)
	}

	for _, s := range l.file.manifest.Sequences {
		has = append(has, s.Name)
	}

	for _, t := range l.found.tables {
		needs = append(needs, t.Name)
	}

	for _, name := range append(needs, l.found.sequences...) {
		if !slices.Contains(has, name) && !strings.HasPrefix(name, "pgjournal_") {
			return fmt.Errorf("%s is damaged: it has no %s", l.file.path, name)
		}
	}

	return nil
}

func sameColumns(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

func (l *loader) setSequences(ctx context.Context) error {
	for _, s := range l.file.manifest.Sequences {
		if !slices.Contains(l.found.sequences, s.Name) {
			return fmt.Errorf("%s has the sequence %s, which the migrations that it names do not create", l.file.path, s.Name)
		}

		if _, err := l.conn.Exec(ctx, "SELECT setval($1::text::regclass, $2, $3)", quote(s.Name), s.Value, s.IsCalled); err != nil {
			return fmt.Errorf("set the sequence %s: %w", s.Name, err)
		}
	}

	return nil
}

// verify compares the tables with those of the database that was backed up.
func (l *loader) verify(ctx context.Context) error {
	for i, t := range l.file.manifest.Tables {
		end := l.report.begin(func() string {
			return fmt.Sprintf("verifying table %d of %d, %s…", i+1, len(l.file.manifest.Tables), t.Name)
		})
		rows, sum, err := checksum(ctx, l.conn, t)

		end()

		if err != nil {
			return err
		}

		if rows != t.Rows || sum != t.Checksum {
			return fmt.Errorf("%s is damaged: the checksum of the table %s (%d rows) is not the one in its manifest", l.file.path, t.Name, rows)
		}
	}

	return nil
}

// end restores the foreign keys and triggers, and removes the marker.
func (l *loader) end(ctx context.Context) error {
	defer l.report.begin(func() string { return "checking the foreign keys…" })()

	for _, statement := range l.foreignKeys {
		if _, err := l.conn.Exec(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}

	if err := l.triggers(ctx, "ENABLE"); err != nil {
		return err
	}

	if _, err := l.conn.Exec(ctx, "DROP TABLE "+markerTable); err != nil {
		return fmt.Errorf("complete the restore: %w", err)
	}

	return nil
}
