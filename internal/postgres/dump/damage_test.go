package dump_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/dump"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// asRole replaces the user of an address.
func asRole(t *testing.T, database, role string) string {
	t.Helper()

	address, err := url.Parse(database)
	require.NoError(t, err)

	address.User = url.UserPassword(role, "secret")

	return address.String()
}

// rewrite writes a copy of a backup with changed entries; change returns nil to omit one.
func rewrite(t *testing.T, file string, change func(name string, content []byte) []byte) string {
	t.Helper()

	reader, err := zip.OpenReader(file)
	require.NoError(t, err)

	defer reader.Close()

	var out bytes.Buffer

	writer := zip.NewWriter(&out)

	for _, entry := range reader.File {
		content, err := entry.Open()
		require.NoError(t, err)
		raw, err := io.ReadAll(content)
		require.NoError(t, err)

		if raw = change(entry.Name, raw); raw == nil {
			continue
		}

		into, err := writer.Create(entry.Name)
		require.NoError(t, err)
		_, err = into.Write(raw)
		require.NoError(t, err)
	}

	require.NoError(t, writer.Close())

	return write(t, out.Bytes())
}

func write(t *testing.T, content []byte) string {
	t.Helper()

	file := filepath.Join(t.TempDir(), "changed.backup")
	require.NoError(t, os.WriteFile(file, content, 0o600))

	return file
}

// withManifest changes the manifest of a backup.
func withManifest(t *testing.T, file string, change func(*dump.Manifest)) string {
	t.Helper()

	return rewrite(t, file, func(name string, content []byte) []byte {
		if name != "manifest.json" {
			return content
		}

		var m dump.Manifest
		require.NoError(t, json.Unmarshal(content, &m))
		change(&m)

		raw, err := json.Marshal(m)
		require.NoError(t, err)

		return raw
	})
}

func replaceIn(entry, from, to string) func(string, []byte) []byte {
	return func(name string, content []byte) []byte {
		if name != entry {
			return content
		}

		return []byte(strings.Replace(string(content), from, to, 1))
	}
}

func drop(entry string) func(string, []byte) []byte {
	return func(name string, content []byte) []byte {
		if name == entry {
			return nil
		}

		return content
	}
}

func TestUnusableFileIsRefusedAndDatabaseStaysEmpty(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	addHostileNotes(t, database)
	file := backup(t, database)

	whole, err := os.ReadFile(file)
	require.NoError(t, err)

	flipped := bytes.Clone(whole)
	flipped[bytes.Index(flipped, []byte("tables/notes.copy"))+200] ^= 0x55

	const damaged = "is damaged: "

	target := pgtest.Empty(t)
	exec(t, target, "CREATE TABLE theirs AS SELECT 1 AS one")
	before := objects(t, target)

	for _, c := range []struct{ name, file, message string }{
		{"no file", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"empty", write(t, nil), "is not a backup made by tarsy database backup, or is not complete"},
		{"text", write(t, []byte("PGDMP is something else")), "is not a backup"},
		{"another archive", rewrite(t, file, drop("manifest.json")), "is not a backup"},
		{"another manifest", rewrite(t, file, replaceIn("manifest.json", "tarsy-backup", "other")), "is not a backup"},
		{"truncated by a byte", write(t, whole[:len(whole)-1]), "is not a backup"},
		{"half", write(t, whole[:len(whole)/2]), "is not a backup"},
		{"flipped bits", write(t, flipped), damaged + "the rows of the table notes cannot be read"},
		{"changed text", rewrite(t, file, replaceIn("tables/notes.copy", "DROP TABLE", "drop table")), damaged + "the checksum of the table notes"},
		{"missing row", rewrite(t, file, func(name string, content []byte) []byte {
			if name != "tables/entities.copy" {
				return content
			}

			_, rest, _ := bytes.Cut(content, []byte("\n"))

			return rest
		}), damaged + "the table entities has 45 rows, and its manifest says 46"},
		{"early end", rewrite(t, file, replaceIn("tables/notes.copy", "\n", "\n\\.\n")), damaged},
		{"broken row", rewrite(t, file, replaceIn("tables/entities.copy", "\ttask\t", "\ttask")), damaged + "the rows of the table entities cannot be read"},
		{"missing table", rewrite(t, file, drop("tables/notes.copy")), damaged + "the table notes is missing"},
		{"table not in the manifest", withManifest(t, file, func(m *dump.Manifest) { m.Tables = without(m.Tables, "notes") }), damaged + "it has no notes"},
		{"table of somebody", rewrite(t, file, replaceIn("manifest.json", `"notes"`, `"pg_authid"`)), damaged + `its manifest has a table "pg_authid"`},
		{"another column", rewrite(t, file, replaceIn("manifest.json", `"author"`, `"writer"`)), "the table chat_user_messages has the columns"},
		{"newer format", withManifest(t, file, func(m *dump.Manifest) { m.FormatVersion = 2 }), "was made by tarsy v1.2.3, in a format that this tarsy does not know"},
		{"newer schema", withManifest(t, file, func(m *dump.Manifest) { m.Migrations.Additions = append(m.Migrations.Additions, 9999) }), "it has schema version 9999"},
		{"newer River", withManifest(t, file, func(m *dump.Manifest) { m.Migrations.River = 99 }), "version 99 of River's schema"},
	} {
		message := restoreError(t, target, c.file)
		require.Contains(t, message, c.message, c.name)
		require.Equal(t, before, objects(t, target), "%s: nothing is left in the database", c.name)
	}

	restore(t, target, file)
	require.Equal(t, contents(t, database)["notes"], contents(t, target)["notes"], "the restore can be repeated")
}

func without(tables []dump.Table, name string) []dump.Table {
	var kept []dump.Table

	for _, table := range tables {
		if table.Name != name {
			kept = append(kept, table)
		}
	}

	return kept
}

// A restore that is killed after it created the tables leaves them empty, with its marker.
func TestRestoreAfterKilledOneStartsAgain(t *testing.T) {
	t.Parallel()

	database, target := pgtest.New(t), pgtest.Empty(t)
	addHostileNotes(t, database)
	file := backup(t, database)

	exec(t, target, "CREATE TABLE tarsy_restore (begun timestamptz)")
	require.NoError(t, postgres.Migrate(t.Context(), target))
	restore(t, target, file)
	require.Equal(t, contents(t, database), contents(t, target))
	require.Equal(t, objects(t, database), objects(t, target), "the mark is gone")

	// If a server has worked in the meantime, the rows are its own.
	used := pgtest.Empty(t)
	exec(t, used, "CREATE TABLE tarsy_restore (begun timestamptz)")
	require.NoError(t, postgres.Migrate(t.Context(), used))
	addHostileNotes(t, used)
	before := contents(t, used)
	require.Contains(t, restoreError(t, used, file), "has tables of TARSy already")
	require.Equal(t, before, contents(t, used))
}

func TestConcurrentRestoresAreKeptApart(t *testing.T) {
	t.Parallel()

	file, target := backup(t, pgtest.New(t)), pgtest.Empty(t)
	_, err := connect(t, target).Exec(t.Context(), "SELECT pg_advisory_lock($1)", int64(0x7461727379_02))
	require.NoError(t, err)

	require.Contains(t, restoreError(t, target, file), "another restore is running on this database")
	require.Empty(t, objects(t, target))
}

func TestSchemaObjectsNameEverythingThatMigrationsCreate(t *testing.T) {
	t.Parallel()

	known := postgres.SchemaObjects()
	for _, c := range []struct {
		query string
		names []string
	}{
		{"SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'm', 'v', 'f')", known.Tables},
		{"SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace", known.Functions},
		{"SELECT typname::text FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('e', 'd')", known.Types},
	} {
		found := rows(t, pgtest.New(t), c.query)
		require.NotEmpty(t, found)
		require.Subset(t, c.names, found)
	}
}
