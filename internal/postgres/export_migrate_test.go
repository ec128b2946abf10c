package postgres

import (
	"context"
	"fmt"
	"slices"
)

// MigrateAs migrates a database to the schema of a release that has these files, by version, besides the first of ours. Their
// versions have four digits.
func MigrateAs(ctx context.Context, url string, ours int, files map[int]string) error {
	known := migrations()[:ours]

	for version := range 10_000 {
		if sql, ok := files[version]; ok {
			known = append(known, newMigration(version, fmt.Sprintf("%04d_test.sql", version), sql))
		}
	}

	return migrate(ctx, url, known, noStep)
}

// Migrations returns the number of files.
func Migrations() int { return len(migrations()) }

// MigrationsBefore returns the number of files before a version.
func MigrationsBefore(version int) int {
	return slices.IndexFunc(migrations(), func(m migration) bool { return m.version == version })
}

// UnstorableState and SchemaRefusedState report the results for an error with an SQLSTATE, as the database would return it.
func UnstorableState(code string) bool {
	return Unstorable(fmt.Errorf("commit: %w", &pgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code}))
}

func SchemaRefusedState(code string) bool {
	return SchemaRefused(fmt.Errorf("commit: %w", &pgError{Severity: "ERROR", SeverityUnlocalized: "ERROR", Code: code}))
}

// MigrationNames returns the names of the files in order, and MigrationSums their checksums.
func MigrationNames() []string {
	var names []string
	for _, m := range migrations() {
		names = append(names, m.name)
	}

	return names
}

func MigrationSums() map[string]string {
	sums := map[string]string{}
	for _, m := range migrations() {
		sums[m.name] = m.sum()
	}

	return sums
}
