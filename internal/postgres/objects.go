package postgres

import (
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/flow/journal/pgjournal"
)

// Objects are the names of what migrations create (ours, River's and the journal's), by kind. They include what a later migration
// removed or renamed: a database may not have that migration yet.
type Objects struct {
	Tables, Sequences, Functions, Types []string
}

// createPattern matches what a migration creates. River's SQL has a comment where the name of a schema can be.
var createPattern = regexp.MustCompile(`(?i)CREATE\s+(?:OR\s+REPLACE\s+)?(?:UNLOGGED\s+)?(TABLE|SEQUENCE|FUNCTION|TYPE)\s+` +
	`(?:IF\s+NOT\s+EXISTS\s+)?(?:/\*[^*]*\*/\s*)?([a-z_0-9]+)`)

// SchemaObjects returns the names of everything that belongs to TARSy's schema, to tell it apart from what others created beside it.
func SchemaObjects() Objects {
	sources := []string{versionTablesSQL, pgjournal.Schema()}

	for _, m := range migrations() {
		sources = append(sources, m.sql)
	}

	for _, m := range riverMigrations().AllVersions() {
		sources = append(sources, m.SQLUp)
	}

	var all Objects

	for _, sql := range sources {
		for _, match := range createPattern.FindAllStringSubmatch(sql, -1) {
			kind := map[string]*[]string{"TABLE": &all.Tables, "SEQUENCE": &all.Sequences, "FUNCTION": &all.Functions, "TYPE": &all.Types}[strings.ToUpper(match[1])]
			if !slices.Contains(*kind, match[2]) {
				*kind = append(*kind, match[2])
			}
		}
	}

	return all
}
