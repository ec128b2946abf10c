package private

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Binaries are the server programs of one PostgreSQL installation.
type Binaries struct {
	Dir     string // contains postgres and initdb
	Version string // such as "17.2"
	Major   int
	Source  string // how they were found, for people
}

func (b Binaries) program(name string) string { return filepath.Join(b.Dir, name) }

func (b Binaries) String() string {
	return fmt.Sprintf("PostgreSQL %s in %s (%s)", b.Version, b.Dir, b.Source)
}

// Find returns the server binaries that a new cluster would get: those in binDir if that is not empty, otherwise those of the
// first of the usual places that has them.
func Find(binDir string) (Binaries, error) {
	runner, err := currentAccount()
	if err != nil {
		return Binaries{}, err
	}
	return systemFinder(runner).find(binDir)
}

// Installed returns every version found, lowest first.
func Installed() ([]Binaries, error) {
	runner, err := currentAccount()
	if err != nil {
		return nil, err
	}
	search := systemFinder(runner)
	if _, err := search.find(""); err != nil {
		return nil, err
	}
	return slices.SortedStableFunc(search.all(), func(a, b Binaries) int { return compareVersions(a.Version, b.Version) }), nil
}

// finder is the list of places to search, in order.
type finder struct {
	account account
	path    string   // as in $PATH
	globs   []source // patterns of directories; of several matches the highest version comes first
}

type source struct{ name, pattern string }

func systemFinder(runner account) finder {
	search := finder{account: runner, path: os.Getenv("PATH"), globs: []source{
		{"Debian's packages", "/usr/lib/postgresql/*/bin"},
		{"the PostgreSQL project's packages", "/usr/pgsql-*/bin"},
		{"Homebrew", "/opt/homebrew/opt/postgresql*/bin"},
		{"Homebrew", "/usr/local/opt/postgresql*/bin"},
		{"Homebrew", "/home/linuxbrew/.linuxbrew/opt/postgresql*/bin"},
		{"Postgres.app", "/Applications/Postgres.app/Contents/Versions/*/bin"},
	}}
	// scripts/install-postgres.sh installs into these places.
	if cache, err := os.UserCacheDir(); err == nil {
		search.globs = append(search.globs, source{"tarsy's cache", filepath.Join(cache, "tarsy/postgresql/*/native/bin")})
	}
	search.globs = append(search.globs, source{"tarsy's cache", "/var/cache/tarsy/postgresql/*/native/bin"})
	return search
}

func (f finder) find(binDir string) (Binaries, error) {
	if binDir != "" {
		return f.inspect(binDir, "as configured")
	}
	for found := range f.all() {
		return found, nil
	}
	return Binaries{}, fmt.Errorf("no PostgreSQL server was found: install one (apt install postgresql, brew install postgresql@17, " +
		"or scripts/install-postgres.sh for a copy of tarsy's own), or name the directory that holds postgres and initdb in TARSY_PG_BIN")
}

// highest finds the newest binaries, for an upgrade.
func (f finder) highest(binDir string) (Binaries, error) {
	newest, err := f.find(binDir)
	if err != nil || binDir != "" {
		return newest, err
	}
	for found := range f.all() {
		if compareVersions(found.Version, newest.Version) > 0 {
			newest = found
		}
	}
	return newest, nil
}

// findMajor finds the binaries that can read an existing cluster: only those of its major version. The second result is what was
// found instead.
func (f finder) findMajor(binDir string, major int) (Binaries, []Binaries, error) {
	if binDir != "" {
		found, err := f.inspect(binDir, "as configured")
		return found, []Binaries{found}, err
	}
	var others []Binaries
	for found := range f.all() {
		if found.Major == major {
			return found, nil, nil
		}
		others = append(others, found)
	}
	return Binaries{}, others, nil
}

// all yields the installations that work, each once.
func (f finder) all() iter.Seq[Binaries] {
	return func(yield func(Binaries) bool) {
		seen := map[string]bool{}
		for directory, name := range f.directories() {
			actual, err := filepath.EvalSymlinks(directory)
			if err != nil || seen[actual] {
				continue
			}
			seen[actual] = true
			found, err := f.inspect(actual, name)
			if err == nil && !yield(found) {
				return
			}
		}
	}
}

// directories yields the candidates, each with the name of its origin.
func (f finder) directories() iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for _, entry := range filepath.SplitList(f.path) {
			// A link in PATH leads to the directory that contains all programs of one version.
			for _, name := range []string{"postgres", "initdb", "pg_ctl"} {
				program, err := filepath.EvalSymlinks(filepath.Join(entry, name))
				if err == nil && !yield(filepath.Dir(program), "PATH") {
					return
				}
			}
		}
		for _, entry := range filepath.SplitList(f.path) {
			if directory, ok := askConfig(filepath.Join(entry, "pg_config")); ok && !yield(directory, "pg_config") {
				return
			}
		}
		for _, place := range f.globs {
			// The pattern is a constant, so the only possible error cannot happen.
			matches, _ := filepath.Glob(place.pattern)
			slices.SortFunc(matches, func(a, b string) int { return compareVersions(b, a) })
			for _, match := range matches {
				if !yield(match, place.name) {
					return
				}
			}
		}
	}
}

func askConfig(program string) (string, bool) {
	if !isProgram(program) {
		return "", false
	}
	output, err := ask(program, "--bindir")
	return output, err == nil && output != ""
}

// ask runs a program that answers immediately. A hanging one must not block the start.
func ask(program string, arguments ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	command := exec.CommandContext(ctx, program, arguments...)
	command.Env = environment()
	output, err := command.Output()
	return strings.TrimSpace(string(output)), err
}

var (
	versionPattern = regexp.MustCompile(`\(PostgreSQL\) ((\d+)[0-9a-z.]*)`)
	numberPattern  = regexp.MustCompile(`\d+`)
)

// inspect returns the binaries in a directory, if they are complete, run, and can be reached.
func (f finder) inspect(directory, name string) (Binaries, error) {
	found := Binaries{Dir: directory, Source: name}
	for _, program := range []string{"postgres", "initdb"} {
		if !isProgram(found.program(program)) {
			return found, fmt.Errorf("there is no program %s in %s: name a directory that holds the server programs of PostgreSQL",
				program, directory)
		}
	}
	if !f.account.canReach(found.program("postgres")) {
		return found, fmt.Errorf("the user %s, which runs the server for root, cannot reach the programs in %s: "+
			"name binaries outside of root's own directories", f.account.name, directory)
	}
	output, err := ask(found.program("postgres"), "--version")
	if err != nil {
		return found, fmt.Errorf("ask %s for its version: %w", found.program("postgres"), err)
	}
	match := versionPattern.FindStringSubmatch(output)
	if match == nil {
		return found, fmt.Errorf("%s --version answers %q, which is not a version of PostgreSQL", found.program("postgres"), output)
	}
	found.Version = match[1]
	found.Major, err = strconv.Atoi(match[2])
	return found, err
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}

// compareVersions orders paths by the numbers in them, so that 9 comes before 17.
func compareVersions(a, b string) int {
	number := func(text string) int {
		// A number that is too long to parse is no version.
		value, _ := strconv.Atoi(text)
		return value
	}
	return slices.CompareFunc(numberPattern.FindAllString(a, -1), numberPattern.FindAllString(b, -1),
		func(x, y string) int { return number(x) - number(y) })
}

// environment is the environment of PostgreSQL's programs: no PG… variables that would change what they do, and messages in English.
func environment() []string {
	return []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
}
