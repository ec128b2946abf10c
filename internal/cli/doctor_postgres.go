package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// quietWait is how long a check may take before people are told what is waited for.
const quietWait = 2 * time.Second

// checkPostgres looks at the database that a server would use: at the configured one, or whether there is what a private one needs.
func (t *tool) checkPostgres(ctx context.Context, f *serverFlags) []finding {
	if f.databaseURL == "" {
		return []finding{t.checkPrivatePostgres(f)}
	}

	const check = "PostgreSQL"

	where := shownAddress(f.databaseURL)
	notice := time.AfterFunc(quietWait, func() { t.infof("waiting for PostgreSQL at %s…", where) })

	defer notice.Stop()

	observations, err := postgres.Inspect(ctx, f.databaseURL)
	if err != nil {
		return []finding{{check, findingFail, where + ": " + line(err), "correct --database-url or TARSY_DATABASE_URL"}}
	}

	all := make([]finding, len(observations))
	for i, seen := range observations {
		// Names of databases, roles and schemas are in these texts. The name of a setting is there already, as the check.
		found := terminal.Line(strings.TrimPrefix(seen.Found, seen.Check+" "))
		all[i] = finding{strings.TrimSpace(check + " " + seen.Check), string(seen.Level), found, terminal.Line(seen.Advice)}

		if seen.Check == "" && seen.Level == postgres.LevelFail {
			all[i].Found = where + ": " + all[i].Found
		}
	}

	return all
}

// shownAddress is hidePassword for addresses that may be mistyped: if a password has a slash, its end looks like the name of a database.
func shownAddress(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || strings.Contains(parsed.Path, "@") {
		return config.Hidden
	}

	return terminal.Line(hidePassword(address))
}

// checkPrivatePostgres looks for server programs: for those that can read the database in the data directory, if there is one.
func (t *tool) checkPrivatePostgres(f *serverFlags) finding {
	const check = "PostgreSQL"

	found, err := private.Find(f.pgBin)

	dir, dirErr := t.dataDir(f)
	if dirErr != nil {
		dir = ""
	}

	cluster, major := clusterIn(dir)
	if major == 0 && err != nil {
		return finding{check, findingFail, line(err), "run make setup, install PostgreSQL, or set --database-url"}
	}

	if major == 0 {
		return finding{check, findingOK, found.String(), ""}
	}

	if err == nil && found.Major == major {
		return finding{check, findingOK, fmt.Sprintf("%s, for the database in %s", found, cluster), ""}
	}

	if other, ok := programsOf(major); ok && f.pgBin == "" {
		return finding{check, findingOK, fmt.Sprintf("%s, for the database in %s", other, cluster), ""}
	}

	there := "there are no server programs of PostgreSQL here"
	if err == nil {
		there = "there is only " + found.String()
	}

	return finding{
		check, findingFail, fmt.Sprintf("the database in %s is of PostgreSQL %d, and %s", cluster, major, there),
		fmt.Sprintf("install PostgreSQL %d, or move the data to another version: %s database upgrade", major, t.Name),
	}
}

// clusterIn returns the private database of a data directory and its major version, 0 if there is none that can be read.
func clusterIn(dir string) (cluster string, major int) {
	if dir == "" {
		return "", 0
	}

	root := dir

	// The database of a directory that the user of PostgreSQL cannot reach is elsewhere.
	if text, err := os.ReadFile(filepath.Join(dir, "postgres.json")); err == nil {
		var record struct {
			Root string `json:"root"`
		}
		if json.Unmarshal(text, &record) == nil && record.Root != "" {
			root = record.Root
		}
	}

	cluster = filepath.Join(root, "postgres")

	text, err := os.ReadFile(filepath.Join(cluster, "PG_VERSION"))
	if err != nil {
		return cluster, 0
	}

	major, err = strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return cluster, 0
	}

	return cluster, major
}

// programsOf looks for the programs of one version in the places that package private knows.
func programsOf(major int) (private.Binaries, bool) {
	places := []string{
		"/usr/lib/postgresql/%d/bin", "/usr/pgsql-%d/bin", "/opt/homebrew/opt/postgresql@%d/bin", "/usr/local/opt/postgresql@%d/bin",
		"/home/linuxbrew/.linuxbrew/opt/postgresql@%d/bin", "/Applications/Postgres.app/Contents/Versions/%d/bin", "/var/cache/tarsy/postgresql/%d.*/native/bin",
	}
	if cache, err := os.UserCacheDir(); err == nil {
		places = append(places, filepath.Join(strings.ReplaceAll(cache, "%", "%%"), "tarsy/postgresql/%d.*/native/bin"))
	}

	for _, place := range places {
		// The patterns are ours, so they have no syntax errors.
		matches, _ := filepath.Glob(fmt.Sprintf(place, major))
		for _, match := range matches {
			if found, err := private.Find(match); err == nil && found.Major == major {
				return found, true
			}
		}
	}

	return private.Binaries{}, false
}
