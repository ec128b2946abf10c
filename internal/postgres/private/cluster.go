package private

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// The wanted locale sorts by bytes and knows the letters of all scripts. If the system does not have it, C sorts the same way but
// knows only the letters of ASCII.
const (
	wantedLocale   = "C.UTF-8"
	fallbackLocale = "C"
)

// unfinished is the prefix of the names of clusters that are being created.
const unfinished = "postgres.new-"

// create creates the cluster under another name and renames it when it is complete, so that a tarsy killed on the way leaves
// nothing that looks like a database.
func (s *Server) create(ctx context.Context, binaries Binaries) error {
	s.cfg.Progress(fmt.Sprintf("creating a database cluster in %s with PostgreSQL %s…", s.place.cluster, binaries.Version))
	if err := s.place.makeRoot(); err != nil {
		return err
	}
	s.place.removeLeftovers()
	password, err := s.place.newPassword()
	if err != nil {
		return fmt.Errorf("write the password of the new database: %w", err)
	}
	temporary, err := os.MkdirTemp(s.place.root, unfinished)
	if err != nil {
		return fmt.Errorf("create the directory of the new database: %w", err)
	}
	defer s.place.removeLeftovers()
	locale, err := s.initdb(ctx, binaries, temporary, password)
	if err != nil {
		return err
	}
	if err := s.place.writeRecord(locale); err != nil {
		return fmt.Errorf("record the new database: %w", err)
	}
	if err := os.Rename(temporary, s.place.cluster); err != nil {
		return fmt.Errorf("move the new database to its place: %w", err)
	}
	return syncDir(s.place.root)
}

// makeRoot creates the root outside of the data directory, which the server's user must be able to enter.
func (p place) makeRoot() error {
	if p.root == p.dir {
		return nil
	}
	for _, directory := range []string{unreachableRoot, p.root} {
		err := os.MkdirAll(directory, 0o755)
		if err == nil {
			err = os.Chmod(directory, 0o755) // regardless of the umask
		}
		if err != nil {
			return fmt.Errorf("make a place for the database that %s can reach: %w", p.account.name, err)
		}
	}
	return nil
}

// removeLeftovers deletes unfinished clusters. An initdb that outlived its tarsy may still write to one; a later start deletes
// what cannot be deleted now.
func (p place) removeLeftovers() {
	for _, leftover := range p.leftovers() {
		_ = os.RemoveAll(leftover)
	}
}

func (p place) leftovers() []string {
	found, _ := filepath.Glob(filepath.Join(p.root, unfinished+"*"))
	return found
}

// initdb fills the directory and returns the locale that it used.
func (s *Server) initdb(ctx context.Context, binaries Binaries, directory, password string) (string, error) {
	locale := wantedLocale
	output, err := s.initdbWith(ctx, binaries, directory, password, locale)
	if err != nil && strings.Contains(output, "invalid locale name") {
		locale = fallbackLocale
		s.cfg.Progress(fmt.Sprintf("this system has no locale %s; the database gets %s (same order, "+
			"upper and lower case of ASCII letters only)", wantedLocale, fallbackLocale))
		_, err = s.initdbWith(ctx, binaries, directory, password, locale)
	}
	return locale, err
}

// initdbWith fills the directory with exactly this locale, and returns what initdb prints.
func (s *Server) initdbWith(ctx context.Context, binaries Binaries, directory, password, locale string) (string, error) {
	verifier, err := newVerifier(password)
	if err != nil {
		return "", fmt.Errorf("hash the password of the new database: %w", err)
	}
	passwordFile := directory + ".password"
	err = os.WriteFile(passwordFile, []byte(verifier+"\n"), 0o600)
	for _, path := range []string{directory, passwordFile} {
		if err == nil {
			err = s.place.account.own(path)
		}
	}
	if err != nil {
		return "", fmt.Errorf("prepare the directory of the new database: %w", err)
	}
	arguments := []string{
		"--pgdata=" + directory, "--username=" + userName, "--pwfile=" + passwordFile, "--auth=scram-sha-256",
		"--encoding=UTF8", "--text-search-config=english",
	}
	if binaries.Major >= 18 && !s.cfg.Stock {
		arguments = append(arguments, "--no-data-checksums") // the default before 18
	}
	if s.cfg.Settings["fsync"] == "off" {
		arguments = append(arguments, "--no-sync")
	}
	output, err := s.runInitdb(ctx, binaries, append(arguments, "--locale="+locale))
	if ctx.Err() != nil {
		return output, fmt.Errorf("create a database cluster: %w", context.Cause(ctx))
	}
	if err != nil {
		return output, fmt.Errorf("create a database cluster with %s: %w; its output:\n%s", binaries.program("initdb"), err, lastLines(output))
	}
	return output, nil
}

func (s *Server) runInitdb(ctx context.Context, binaries Binaries, arguments []string) (string, error) {
	command := exec.CommandContext(ctx, binaries.program("initdb"), arguments...)
	command.Env, command.Dir, command.SysProcAttr = environment(), "/", s.place.account.attributes()
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	// A grandchild that keeps the pipe open must not block us.
	command.WaitDelay = 5 * time.Second
	err := command.Run()
	return output.String(), err
}

// major returns the version of PostgreSQL that created the cluster.
func (p place) major() (int, error) {
	content, err := os.ReadFile(filepath.Join(p.cluster, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("%s is not a database cluster (it has no PG_VERSION): "+
			"restore it from a backup, or move it aside to begin with an empty database", p.cluster)
	}
	if err != nil {
		return 0, fmt.Errorf("read the version of the database cluster: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return 0, fmt.Errorf("read the version of the database cluster in %s: %w", p.cluster, err)
	}
	return major, nil
}

// binariesFor finds the programs that match the existing cluster.
func (s *Server) binariesFor() (Binaries, error) {
	major, err := s.place.major()
	if err != nil {
		return Binaries{}, err
	}
	found, others, err := systemFinder(s.place.account).findMajor(s.cfg.BinDir, major)
	if err != nil {
		return Binaries{}, err
	}
	if found.Major == major {
		return found, nil
	}
	return Binaries{}, s.place.mismatch(major, others)
}

func (p place) mismatch(major int, others []Binaries) error {
	there := "there are no PostgreSQL server programs here"
	if len(others) > 0 {
		names := make([]string, len(others))
		for i, other := range others {
			names[i] = other.String()
		}
		there = "the versions found are " + strings.Join(names, ", ")
	}
	return fmt.Errorf("the database in %s was made by PostgreSQL %d, which no other version can read, and %s: install PostgreSQL %d (%s), "+
		"or name its programs in TARSY_PG_BIN, and start again; with both versions installed, tarsy database upgrade --data-dir %s moves the data to the newer one",
		p.cluster, major, there, major, howToInstall(major), p.dir)
}

// howToInstall returns how to install the programs of a version.
func howToInstall(major int) string {
	return fmt.Sprintf("apt install postgresql-%[1]d, brew install postgresql@%[1]d, or scripts/install-postgres.sh --major %[1]d", major)
}

// check reads the properties of the running server, creates tarsy's database if it does not exist yet, and rejects one with
// another locale than recorded: its indexes and comparisons would have another meaning.
func (s *Server) check(ctx context.Context) error {
	connection, err := pgx.Connect(ctx, s.url("postgres"))
	if err != nil {
		return fmt.Errorf("connect to the private PostgreSQL server: %w", err)
	}
	defer func() { _ = connection.Close(context.WithoutCancel(ctx)) }()
	var version, collate, ctype, encoding string
	const ask = `SELECT current_setting('server_version'), datcollate, datctype, pg_encoding_to_char(encoding)
		FROM pg_database WHERE datname = ANY($1) ORDER BY datname = $2 DESC LIMIT 1`
	err = connection.QueryRow(ctx, ask, []string{databaseName, "template1"}, databaseName).Scan(&version, &collate, &ctype, &encoding)
	if err != nil {
		return fmt.Errorf("ask the private PostgreSQL server for its version and locale: %w", err)
	}
	s.version, _, _ = strings.Cut(version, " ")
	known, err := s.place.readRecord()
	if err != nil {
		return err
	}
	if err := checkLocale(known.Locale, collate, ctype, encoding); err != nil {
		return fmt.Errorf("the database in %s %w", s.place.cluster, err)
	}
	var exists bool
	err = connection.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, databaseName).Scan(&exists)
	if err == nil && !exists {
		_, err = connection.Exec(ctx, "CREATE DATABASE "+databaseName)
	}
	if err != nil {
		return fmt.Errorf("create tarsy's database: %w", err)
	}
	return nil
}

func checkLocale(recorded, collate, ctype, encoding string) error {
	expected := []string{recorded}
	if recorded == "" {
		expected = []string{wantedLocale, fallbackLocale}
	}
	for _, locale := range expected {
		if sameLocale(locale, collate) && sameLocale(locale, ctype) && encoding == "UTF8" {
			return nil
		}
	}
	return fmt.Errorf("has the locale %s/%s with encoding %s, and was created with %s and UTF8: back it up (tarsy database backup FILE), "+
		"move the directory aside, and restore into a new one (tarsy database restore FILE)", collate, ctype, encoding, strings.Join(expected, " or "))
}

// sameLocale compares the names of locales: some systems spell C.UTF-8 as C.utf8.
func sameLocale(a, b string) bool {
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "-", "") }
	return plain(a) == plain(b)
}

func syncDir(path string) error {
	directory, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("write the new database to disk: %w", err)
	}
	err = directory.Sync()
	if closeErr := directory.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return fmt.Errorf("write the new database to disk: %w", err)
	}
	return nil
}
