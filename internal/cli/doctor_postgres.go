package cli

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// progressDelay is how long a check may take before it reports what it is waiting for.
const progressDelay = 2 * time.Second

// checkPostgres checks the configured database, or whether a private one could run.
func (f *serverFlags) checkPostgres(ctx context.Context) []finding {
	if f.databaseURL == "" {
		return []finding{f.checkPrivatePostgres()}
	}

	const check = "PostgreSQL"

	where := shownAddress(f.databaseURL)
	notice := time.AfterFunc(progressDelay, func() { f.infof("waiting for PostgreSQL at %s…", where) })

	defer notice.Stop()

	observations, err := postgres.Inspect(ctx, f.databaseURL)
	if err != nil {
		return []finding{{check, findingFail, where + ": " + line(err), "correct --database-url or TARSY_DATABASE_URL"}}
	}

	all := make([]finding, len(observations))
	for i, seen := range observations {
		// These texts contain names of databases, roles and schemas. The name of a setting is already in the check.
		found := terminal.Line(strings.TrimPrefix(seen.Found, seen.Check+" "))
		all[i] = finding{strings.TrimSpace(check + " " + seen.Check), string(seen.Level), found, terminal.Line(seen.Advice)}

		if seen.Check == "" && seen.Level == postgres.LevelFail {
			all[i].Found = where + ": " + all[i].Found
		}
	}

	return all
}

// shownAddress is hidePassword for addresses that may be mistyped: if a password contains a slash, its end looks like the database name.
func shownAddress(address string) string {
	parsed, err := url.Parse(address)
	if err != nil || strings.Contains(parsed.Path, "@") {
		return config.Hidden
	}

	return terminal.Line(hidePassword(address))
}

// checkPrivatePostgres looks for server programs; if the data directory has a database, for those that can read it.
func (f *serverFlags) checkPrivatePostgres() finding {
	const check = "PostgreSQL"

	found, err := private.Find(f.pgBin)

	var (
		cluster string
		major   int
	)

	// Another check reports a data directory that cannot be determined.
	if dir, err := f.directory(); err == nil && dir != "" {
		cluster, major = private.Existing(dir)
	}

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
		fmt.Sprintf("install PostgreSQL %d, or move the data to another version: %s database upgrade", major, f.Name),
	}
}

// programsOf returns the programs of one version, if they are installed.
func programsOf(major int) (private.Binaries, bool) {
	installed, err := private.Installed()
	if err != nil {
		return private.Binaries{}, false
	}

	for _, found := range installed {
		if found.Major == major {
			return found, true
		}
	}

	return private.Binaries{}, false
}
