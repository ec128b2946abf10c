package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/dump"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// databaseFlags select the database that a command works on.
type databaseFlags struct {
	*tool

	databaseURL, dataDir, pgBin string
}

func newDatabaseFlags(t *tool, cmd *cobra.Command) *databaseFlags {
	f := &databaseFlags{tool: t}
	flags := cmd.Flags()
	flags.StringVar(&f.databaseURL, "database-url", "", "address of the database, as postgres://user:password@host/name")
	flags.StringVar(&f.dataDir, "data-dir", "", "data directory of the server, for its private PostgreSQL (default ~/.local/share/tarsy)")
	flags.StringVar(&f.pgBin, "pg-bin", "", "directory of the PostgreSQL server programs (default: searched for)")
	withEnv(flags, "database-url", "TARSY_DATABASE_URL")
	withEnv(flags, "data-dir", "TARSY_DATA_DIR")
	withEnv(flags, "pg-bin", "TARSY_PG_BIN")
	cmd.MarkFlagsMutuallyExclusive("database-url", "data-dir")

	return f
}

// address returns the address of the database, or the data directory if there is none. The flag --data-dir overrides the environment
// variable of the address.
func (f *databaseFlags) address() (url, dir string, err error) {
	if f.databaseURL == "" || f.origins["data-dir"] == originFlag+"data-dir" {
		dir, err = privateDir(f.tool, f.dataDir)

		return "", dir, err
	}

	if err := postgres.CheckURL(f.databaseURL); err != nil {
		return "", "", usageError{fmt.Errorf("%s: %w", f.origins["database-url"], err)}
	}

	return f.databaseURL, "", nil
}

// privateDir returns the data directory of a server as an absolute path, which makes errors easier to understand.
func privateDir(t *tool, dir string) (string, error) {
	dir, err := (&serverFlags{tool: t, dataDir: dir, dataDirName: "tarsy"}).directory()
	if err != nil {
		return "", err
	}

	if dir, err = filepath.Abs(dir); err != nil {
		return "", fmt.Errorf("find the data directory: %w", err)
	}

	return dir, nil
}

func privateConfig(t *tool, dir, pgBin string) private.Config {
	return private.Config{Dir: dir, BinDir: pgBin, Progress: t.progress}
}

// progress reports a step that takes a while.
func (o *output) progress(text string) { o.infof("%s", text) }

func databaseCommand(t *tool) *cobra.Command {
	return group(&cobra.Command{
		Use: "database", Short: "Back up, restore and upgrade the database", GroupID: groupServer,
		Long: `Works on the database of a server: the one at --database-url, or the private PostgreSQL in --data-dir. The programs of PostgreSQL for
backups, such as pg_dump, are not needed.`,
		Example: `  tarsy database backup tarsy.backup
  tarsy database restore tarsy.backup --data-dir /var/lib/tarsy
  tarsy database upgrade`,
	}, backupDatabaseCommand(t), restoreDatabaseCommand(t), upgradeDatabaseCommand(t))
}

// databaseReport is the output of backup and restore with -o json.
type databaseReport struct {
	File              string    `json:"file"`
	Bytes             int64     `json:"bytes"`
	CreatedAt         time.Time `json:"created_at"`
	TarsyVersion      string    `json:"tarsy_version"`
	PostgreSQLVersion string    `json:"postgresql_version"`
	Tables            int       `json:"tables"`
	Rows              int64     `json:"rows"`
	// OtherTables are tables that do not belong to TARSy. A backup does not contain them, and a restore does not touch them.
	OtherTables []string `json:"other_tables"`
}

func newDatabaseReport(file string, result *dump.Result) databaseReport {
	return databaseReport{
		File: file, Bytes: result.Bytes, CreatedAt: result.Manifest.CreatedAt, TarsyVersion: result.Manifest.TarsyVersion,
		PostgreSQLVersion: result.Manifest.PostgreSQLVersion, Tables: len(result.Manifest.Tables), Rows: result.Manifest.Rows(),
		OtherTables: append([]string{}, result.Others...),
	}
}

func backupDatabaseCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Write the whole database to a file, while servers run", Args: namedArgs,
		Long: `Writes every table of TARSy to one compressed file that only its owner can read. The backup has the rows of one moment; servers go on working.
A private PostgreSQL is started for as long as it is needed, unless a server uses it already. The file has the rows and the names of the migrations, not
the version of PostgreSQL: it can be restored on another one. Tables that others have created in the database are not in it.`,
		Example: `  tarsy database backup tarsy.backup
  tarsy database backup "tarsy-$(date +%F).backup" --data-dir /var/lib/tarsy
  TARSY_DATABASE_URL=postgres://… tarsy database backup tarsy.backup --force -o json`,
	}
	flags, format := newDatabaseFlags(t, cmd), outputFlag(cmd)

	var force bool

	cmd.Flags().BoolVar(&force, "force", false, "replace the file if it exists")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()

		url, dir, err := flags.address()
		if err != nil {
			return err
		}

		if url == "" {
			reached, err := private.Reach(ctx, privateConfig(t, dir, flags.pgBin))
			if err != nil {
				return err
			}
			defer closing(t, "stop PostgreSQL", ctx, reached.Close)

			url = reached.URL
		}

		result, err := dump.Write(ctx, dump.Options{URL: url, File: args[0], Force: force, Version: buildVersion().Version, Progress: t.progress})
		if err != nil {
			return err
		}

		nameOthers(t, "not in the backup", result.Others)

		if format.value == formatJSON {
			return t.printJSON(newDatabaseReport(args[0], result))
		}

		t.infof("Backed up %d rows of %d tables (%s).", result.Manifest.Rows(), len(result.Manifest.Tables), dump.Size(result.Bytes))

		return t.printf("%s\n", args[0])
	}

	return cmd
}

func restoreDatabaseCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "restore FILE", Short: "Fill an empty database from a backup", Args: namedArgs,
		Long: `Creates TARSy's tables in an empty database, or in a new private PostgreSQL, and fills them from a file that tarsy database backup has written. It
verifies the number of rows and a checksum of every table before it commits, then brings the database to the schema of this release. A database that has tables of
TARSy already is refused. If the restore fails, the database is empty again.

Stop every server on the lost database first: two servers on two copies would both continue the same sessions.`,
		Example: `  tarsy database restore tarsy.backup
  tarsy database restore tarsy.backup --data-dir /var/lib/tarsy
  TARSY_DATABASE_URL=postgres://… tarsy database restore tarsy.backup`,
	}
	flags, format := newDatabaseFlags(t, cmd), outputFlag(cmd)

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		ctx := cmd.Context()

		url, dir, err := flags.address()
		if err != nil {
			return err
		}

		// Check the file before a private PostgreSQL is created for it.
		if _, err := dump.ReadManifest(args[0]); err != nil {
			return err
		}

		if url == "" {
			server, err := private.Open(ctx, privateConfig(t, dir, flags.pgBin))
			if err != nil {
				return err
			}
			defer closing(t, "stop PostgreSQL", ctx, server.Stop)

			url = server.URL()
		}

		result, err := dump.Restore(ctx, dump.Options{URL: url, File: args[0], Progress: t.progress})
		if err != nil {
			return err
		}

		nameOthers(t, "not touched", result.Others)

		if format.value == formatJSON {
			return t.printJSON(newDatabaseReport(args[0], result))
		}

		t.infof("Restored and verified %d rows of %d tables from the backup of %s. Sessions that were running continue when a server starts.",
			result.Manifest.Rows(), len(result.Manifest.Tables), result.Manifest.CreatedAt.Format(time.RFC3339))

		return nil
	}

	return cmd
}

// closing releases what a command has started, even after an interrupt. It prints a failure but does not return it: the outcome of the
// command is already decided.
func closing(t *tool, what string, ctx context.Context, end func(context.Context) error) { //nolint:revive // reads as what is done
	if err := end(context.WithoutCancel(ctx)); err != nil {
		t.infof("warning: %s: %s", what, line(err))
	}
}

// nameOthers warns about tables that do not belong to TARSy.
func nameOthers(t *tool, state string, names []string) {
	if len(names) == 0 {
		return
	}

	t.infof("warning: %s, because they were not created by TARSy: %s", state, terminal.Line(strings.Join(names, ", ")))
}
