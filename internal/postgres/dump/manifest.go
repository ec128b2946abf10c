// Package dump writes TARSy's database to one file and restores it from there, on any version of PostgreSQL that TARSy works
// with, and without PostgreSQL's own programs.
//
// The file is a zip archive: one entry per table with its rows in PostgreSQL's COPY text format, and manifest.json, which comes
// last. The schema is not in it: the manifest names the migrations, and a restore applies them.
//
// The package knows migrations by number and tables by their entries in the catalog. It must not know what they mean.
package dump

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/postgres"
)

// formatVersion is the version of the file's format that this package writes, and the newest that it reads.
const formatVersion = 1

const (
	// formatName distinguishes a backup from other zip archives.
	formatName   = "tarsy-backup"
	manifestName = "manifest.json"
	// maxManifest bounds how much is read of a file that may not be a backup.
	maxManifest = 16 << 20
)

// Manifest describes the contents of a backup.
type Manifest struct {
	// Format is formatName, and FormatVersion its version.
	Format        string `json:"format"`
	FormatVersion int    `json:"format_version"`
	// CreatedAt is when the backup began. The rows are from that moment.
	CreatedAt time.Time `json:"created_at"`
	// TarsyVersion is the program that wrote the file, and PostgreSQLVersion the server that it read from.
	TarsyVersion      string `json:"tarsy_version"`
	PostgreSQLVersion string `json:"postgresql_version"`
	// Migrations are those of the database.
	Migrations postgres.Versions `json:"migrations"`
	Tables     []Table           `json:"tables"`
	Sequences  []Sequence        `json:"sequences"`
}

// Table is a table of a backup.
type Table struct {
	Name string `json:"name"`
	// Columns are those that are copied, in the order of the entry's fields. Generated columns are not copied: they are computed again.
	Columns []string `json:"columns"`
	Rows    int64    `json:"rows"`
	// Checksum is of the values of all rows in any order, see checksumSQL.
	Checksum string `json:"checksum"`
}

// Sequence is the state of a sequence.
type Sequence struct {
	Name     string `json:"name"`
	Value    int64  `json:"value"`
	IsCalled bool   `json:"is_called"`
}

func (t Table) entry() string { return "tables/" + t.Name + ".copy" }

// Rows returns the number of rows in all tables of the backup.
func (m *Manifest) Rows() int64 {
	var total int64
	for _, t := range m.Tables {
		total += t.Rows
	}

	return total
}

var errNoBackup = errors.New("is not a backup made by tarsy database backup, or is not complete")

// readManifest reads a manifest and rejects one that this program cannot restore.
func readManifest(from io.Reader) (*Manifest, error) {
	raw, err := io.ReadAll(io.LimitReader(from, maxManifest))
	if err != nil {
		return nil, fmt.Errorf("%w (its manifest cannot be read: %w)", errNoBackup, err)
	}

	// Check the version first: the rest of a newer format is not known.
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil && m.FormatVersion <= formatVersion || m.Format != formatName {
		return nil, errNoBackup
	}

	if m.FormatVersion > formatVersion {
		return nil, fmt.Errorf("was made by tarsy %s, in a format that this tarsy does not know: use that version of tarsy or a newer one", m.TarsyVersion)
	}

	if err := m.Migrations.Check(); err != nil {
		return nil, fmt.Errorf("was made by tarsy %s and cannot be restored with this one: %w", m.TarsyVersion, err)
	}

	return &m, m.checkNames()
}

// checkNames rejects tables that are not TARSy's, and a manifest without the tables of migrations.
func (m *Manifest) checkNames() error {
	known := postgres.SchemaObjects().Tables
	seen := map[string]bool{}

	for _, t := range m.Tables {
		if !slices.Contains(known, t.Name) || seen[t.Name] || len(t.Columns) == 0 {
			return fmt.Errorf("is damaged: its manifest has a table %q that does not belong there", t.Name)
		}

		seen[t.Name] = true
	}

	for _, name := range versionTables() {
		if !seen[name] {
			return fmt.Errorf("is damaged: its manifest has no table %s", name)
		}
	}

	return nil
}

// versionTables returns the tables that record migrations, the only ones with rows in a new schema.
func versionTables() []string {
	return []string{"schema_migrations", "schema_additions", "river_migration"}
}
