package dump

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/postgres"
)

// Options are the options of a backup or a restore.
type Options struct {
	// URL is the address of the database.
	URL string
	// File is the path of the backup.
	File string
	// Force lets a backup overwrite an existing file.
	Force bool
	// Version is the version of this program.
	Version string
	// Progress receives a line about each operation that takes longer than two seconds; nil discards it.
	Progress func(string)
}

// Result is the result of a backup or a restore.
type Result struct {
	Manifest *Manifest
	// Bytes is the size of the file.
	Bytes int64
	// Others are the tables of the database that are not TARSy's and not in the backup.
	Others []string
}

var (
	errNoTables = errors.New("the database has no tables of TARSy: check its address, or start a server on it first")
	errChanging = errors.New("the schema keeps changing: wait until all servers have started, then try again")
)

// Write backs a database up to a file. The rows are from one moment; servers can keep working.
func Write(ctx context.Context, options Options) (*Result, error) {
	if !options.Force {
		if err := checkAbsent(options.File); err != nil {
			return nil, err
		}
	}

	conn, err := connect(ctx, options.URL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // closing it ends a transaction that only read

	w := &writer{conn: conn, report: newReporter(options.Progress)}
	if err := w.begin(ctx); err != nil {
		return nil, err
	}

	out, err := createArchive(options.File)
	if err != nil {
		return nil, err
	}
	defer out.discard()

	m := &Manifest{
		Format: formatName, FormatVersion: formatVersion, CreatedAt: time.Now().UTC(), TarsyVersion: options.Version,
		PostgreSQLVersion: serverVersion(conn), Migrations: w.versions,
	}

	if m.Tables, err = w.writeTables(ctx, out); err != nil {
		return nil, err
	}

	if m.Sequences, err = w.readSequences(ctx); err != nil {
		return nil, err
	}

	size, err := out.finish(m)
	if err != nil {
		return nil, err
	}

	return &Result{Manifest: m, Bytes: size, Others: w.found.others}, nil
}

// writer reads a database in one transaction.
type writer struct {
	conn     *pgx.Conn
	report   *reporter
	found    *catalog
	versions postgres.Versions
}

// begin opens the transaction and reads the catalog. It locks the tables before the first query of the transaction, which takes
// the snapshot: otherwise a migration that ran in between would leave it with the rows of one schema and the columns of another.
func (w *writer) begin(ctx context.Context) error {
	const attempts = 10

	for range attempts {
		expected, err := readCatalog(ctx, w.conn)
		if err != nil {
			return err
		}

		if _, ok := expected.table("schema_migrations"); !ok {
			return errNoTables
		}

		if err := w.lock(ctx, expected); err != nil {
			return err
		}

		if w.found, err = readCatalog(ctx, w.conn); err != nil {
			return err
		}

		if w.found.equal(expected) {
			return w.checkVersions(ctx)
		}

		if _, err := w.conn.Exec(ctx, "ROLLBACK"); err != nil {
			return fmt.Errorf("begin the backup again: %w", err)
		}
	}

	return errChanging
}

func (w *writer) lock(ctx context.Context, tables *catalog) error {
	defer w.report.begin(func() string { return "waiting for a migration of the database to finish…" })()

	if _, err := w.conn.Exec(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"); err != nil {
		return fmt.Errorf("begin the backup: %w", err)
	}

	if err := fixSettings(ctx, w.conn); err != nil {
		return err
	}

	if _, err := w.conn.Exec(ctx, "LOCK TABLE "+tables.names()+" IN ACCESS SHARE MODE"); err != nil {
		return fmt.Errorf("begin the backup: %w", err)
	}

	return nil
}

// checkVersions rejects a database with migrations that this program does not know, because it may have unknown tables too.
func (w *writer) checkVersions(ctx context.Context) error {
	var err error
	if w.versions, err = postgres.ReadVersions(ctx, w.conn); err != nil {
		return err
	}

	if err := w.versions.Check(); err != nil {
		return fmt.Errorf("the database cannot be backed up with this tarsy: %w", err)
	}

	return nil
}

func (w *writer) writeTables(ctx context.Context, out *archive) ([]Table, error) {
	written := make([]Table, 0, len(w.found.tables))

	for i, t := range w.found.tables {
		into, err := out.entry(t.entry())
		if err != nil {
			return nil, fmt.Errorf("write the file of the backup: %w", err)
		}

		var counted counter

		end := w.report.begin(func() string {
			return fmt.Sprintf("reading table %d of %d, %s: %s so far…", i+1, len(w.found.tables), t.Name, Size(counted.Load()))
		})
		// A separate variable, because the report reads t.
		full, err := w.writeTable(ctx, t, io.MultiWriter(into, &counted))

		end()

		if err != nil {
			return nil, err
		}

		written = append(written, full)
	}

	return written, nil
}

func (w *writer) writeTable(ctx context.Context, t Table, into io.Writer) (Table, error) {
	copied, err := w.conn.PgConn().CopyTo(ctx, into, "COPY "+quote(t.Name)+" ("+t.columnList()+") TO STDOUT")
	if err != nil {
		return t, fmt.Errorf("read the table %s: %w", t.Name, err)
	}

	if t.Rows, t.Checksum, err = checksum(ctx, w.conn, t); err == nil && t.Rows != copied.RowsAffected() {
		err = fmt.Errorf("read the table %s: %d rows were read, and it has %d", t.Name, copied.RowsAffected(), t.Rows)
	}

	return t, err
}

// readSequences reads the current values of the sequences, which are not older than the snapshot of the rows.
func (w *writer) readSequences(ctx context.Context) ([]Sequence, error) {
	all := make([]Sequence, 0, len(w.found.sequences))

	for _, name := range w.found.sequences {
		s := Sequence{Name: name}
		if err := w.conn.QueryRow(ctx, "SELECT last_value, is_called FROM "+quote(name)).Scan(&s.Value, &s.IsCalled); err != nil {
			return nil, fmt.Errorf("read the sequence %s: %w", name, err)
		}

		all = append(all, s)
	}

	return all, nil
}

// counter counts what is written to it.
type counter struct{ atomic.Int64 }

func (c *counter) Write(p []byte) (int, error) {
	c.Add(int64(len(p)))

	return len(p), nil
}

// Size formats a number of bytes for people.
func Size(bytes int64) string {
	const step = 1000

	size, units := float64(bytes), []string{"bytes", "kB", "MB", "GB", "TB"}
	for size >= step && len(units) > 1 {
		size, units = size/step, units[1:]
	}

	if units[0] == "bytes" {
		return fmt.Sprintf("%d bytes", bytes)
	}

	return fmt.Sprintf("%.1f %s", size, units[0])
}
