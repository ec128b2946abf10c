package dump

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"tarsy.dev/tarsy/internal/postgres"
)

// cleanupTimeout bounds the clean-up after a failed restore.
const cleanupTimeout = time.Minute

// Restore fills an empty database from a file and brings it to the newest schema. If it fails before all rows are stored and
// verified, it leaves the database empty.
func Restore(ctx context.Context, options Options) (*Result, error) {
	file, err := openBackup(options.File)
	if err != nil {
		return nil, err
	}
	defer file.close()

	conn, err := connect(ctx, options.URL)
	if err != nil {
		return nil, err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // closing it releases its lock

	into, report := target{conn: conn}, newReporter(options.Progress)
	if err := into.prepare(ctx); err != nil {
		return nil, err
	}

	if err := fill(ctx, options.URL, file, into, report); err != nil {
		return nil, errors.Join(err, clearAfter(ctx, options.URL, into))
	}

	if err := finish(ctx, options.URL, file, into, report); err != nil {
		return nil, err
	}

	found, err := readCatalog(ctx, conn)
	if err != nil {
		return nil, err
	}

	result := &Result{Manifest: file.manifest, Others: found.others}
	if info, err := os.Stat(options.File); err == nil {
		result.Bytes = info.Size()
	}

	return result, nil
}

// fill creates the schema of the backup and loads its rows.
func fill(ctx context.Context, url string, file *backup, into target, report *reporter) error {
	end := report.begin(func() string { return "creating the tables…" })
	err := postgres.MigrateVersions(ctx, url, file.manifest.Migrations)

	end()

	if err != nil {
		return fmt.Errorf("create the tables of the backup: %w", err)
	}

	return (&loader{conn: into.conn, file: file, report: report, target: into}).run(ctx)
}

// clearAfter removes what a failed restore created, even if it failed because ctx ended or its connection broke.
func clearAfter(ctx context.Context, url string, into target) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupTimeout)
	defer cancel()

	if into.conn.IsClosed() {
		conn, err := connect(ctx, url)
		if err != nil {
			return fmt.Errorf("the empty tables of this restore are still in the database; the next restore removes them: %w", err)
		}
		defer conn.Close(ctx) //nolint:errcheck // nothing was left undone on it

		into = target{conn: conn}
	}

	return into.clear(ctx)
}

// finish brings the restored database up to date.
func finish(ctx context.Context, url string, file *backup, into target, report *reporter) error {
	end := report.begin(func() string { return "applying the migrations since the backup…" })
	err := postgres.Migrate(ctx, url)

	end()

	if err != nil {
		return fmt.Errorf("all rows are restored and verified, but the migrations since the backup failed; a server applies them when it starts: %w", err)
	}

	defer report.begin(func() string { return "collecting statistics for the planner…" })()

	for _, t := range file.manifest.Tables {
		// If this fails, PostgreSQL does it later by itself; the table may also be gone by now.
		_, _ = into.conn.Exec(ctx, "ANALYZE "+quote(t.Name))
	}

	return ctx.Err()
}
