package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/postgres/dump"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// upgradeReport is the output of upgrade with -o json.
type upgradeReport struct {
	Upgraded bool   `json:"upgraded"`
	From     string `json:"from"`
	To       string `json:"to"`
	Cluster  string `json:"cluster"`
	// Kept is the directory of the previous database, which can be deleted.
	Kept           string   `json:"kept,omitempty"`
	KeptBytes      uint64   `json:"kept_bytes,omitempty"`
	Rows           int64    `json:"rows"`
	OtherTables    []string `json:"other_tables"`
	OtherDatabases []string `json:"other_databases"`
}

func upgradeDatabaseCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "upgrade", Short: "Move a private PostgreSQL to a newer major version", Args: namedArgs,
		Long: `Copies the database of a data directory into a new cluster of a newer major version of PostgreSQL, verifies every table, and switches to it. The
previous cluster is kept beside it. The programs of both versions must be installed, and the server must be stopped. Until the copy is verified,
the database stays as it is; an upgrade that was interrupted can be started again.`,
		Example: `  tarsy database upgrade
  tarsy database upgrade --data-dir /var/lib/tarsy
  tarsy database upgrade --pg-bin /usr/lib/postgresql/18/bin --old-pg-bin /usr/lib/postgresql/15/bin`,
	}
	format := outputFlag(cmd)

	var dataDir, pgBin, oldPGBin string

	cmd.Flags().StringVar(&dataDir, "data-dir", "", "data directory of the server (default ~/.local/share/tarsy)")
	cmd.Flags().StringVar(&pgBin, "pg-bin", "", "directory of the new PostgreSQL server programs (default: the highest version that is found)")
	cmd.Flags().StringVar(&oldPGBin, "old-pg-bin", "", "directory of the old PostgreSQL server programs (default: searched for)")
	withEnv(cmd.Flags(), "data-dir", "TARSY_DATA_DIR")
	withEnv(cmd.Flags(), "pg-bin", "TARSY_PG_BIN")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		dir, err := privateDir(t, dataDir)
		if err != nil {
			return err
		}

		var moved dump.Result

		result, err := private.Upgrade(cmd.Context(), private.UpgradeConfig{
			Config: privateConfig(t, dir, pgBin), OldBinDir: oldPGBin,
			Move: func(ctx context.Context, from, to, scratch string) error {
				return moveDatabase(ctx, t, from, to, scratch, &moved)
			},
		})
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(newUpgradeReport(result, &moved))
		}

		showUpgrade(t, result, &moved, t.origins["pg-bin"] == originFlag+"pg-bin")

		return nil
	}

	return cmd
}

// moveDatabase copies a database through the file scratch. The caller deletes the file.
func moveDatabase(ctx context.Context, t *tool, from, to, scratch string, moved *dump.Result) error {
	written, err := dump.Write(ctx, dump.Options{URL: from, File: scratch, Version: buildVersion().Version, Progress: t.progress})
	if err != nil {
		return err
	}

	*moved = *written
	_, err = dump.Restore(ctx, dump.Options{URL: to, File: scratch, Progress: t.progress})

	return err
}

func newUpgradeReport(result *private.Upgraded, moved *dump.Result) upgradeReport {
	report := upgradeReport{
		Upgraded: result.Kept != "", From: result.From.Version, To: result.To.Version, Cluster: result.Cluster, Kept: result.Kept, KeptBytes: result.KeptBytes,
		OtherTables: append([]string{}, moved.Others...), OtherDatabases: append([]string{}, result.Databases...),
	}

	if moved.Manifest != nil {
		report.Rows = moved.Manifest.Rows()
	}

	return report
}

// showUpgrade prints the result and how to undo it.
func showUpgrade(t *tool, result *private.Upgraded, moved *dump.Result, named bool) {
	if result.Kept == "" {
		t.infof("Nothing to do: the database in %s has PostgreSQL %d already, and the programs are %s.", result.Cluster, result.From.Major, result.To)

		return
	}

	nameOthers(t, "not moved, still in "+result.Kept, moved.Others)
	nameOthers(t, "databases not moved, still in "+result.Kept, result.Databases)
	t.infof("The database in %s has PostgreSQL %s now. All %d rows of %d tables were moved and verified.",
		result.Cluster, result.To.Version, moved.Manifest.Rows(), len(moved.Manifest.Tables))

	if named {
		t.infof("Start the server with the same programs: --pg-bin %s, or TARSY_PG_BIN.", result.To.Dir)
	}

	t.infof("\nThe previous database is in %s (%s).", result.Kept, dump.Size(int64(result.KeptBytes)))
	t.infof("Delete it:  rm -r '%s'", result.Kept)
	t.infof("Go back:    stop the server, then  mv '%s' '%s.aside' && mv '%s' '%s'  (what was written since is only in the new one)",
		result.Cluster, result.Cluster, result.Kept, result.Cluster)
}
