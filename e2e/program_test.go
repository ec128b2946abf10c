package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// programs builds the binaries that scenarios run, each once per test run.
type programs struct {
	tests interface{ Run() int }

	dir   string
	built func() (string, error)

	mu       sync.Mutex
	releases map[string]func() (string, error) // by commit
}

// theProgram is shared by all tests, because TestMain cannot pass a value to them.
var theProgram = &programs{}

func newPrograms(tests interface{ Run() int }) *programs {
	theProgram.tests = tests
	theProgram.built = sync.OnceValues(theProgram.build)
	theProgram.releases = map[string]func() (string, error){}

	return theProgram
}

// Run runs the tests and removes what was built for them.
func (p *programs) Run() int {
	code := p.tests.Run()

	if err := os.RemoveAll(p.dir); err != nil && p.dir != "" {
		fmt.Fprintln(os.Stderr, "e2e: remove the built program:", err)

		return max(code, 1)
	}

	return code
}

func (p *programs) build() (string, error) {
	dir, err := os.MkdirTemp("", "tarsy-e2e-program-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the program: %w", err)
	}

	p.dir = dir
	binary := filepath.Join(dir, "tarsy")

	return binary, goBuild("", binary)
}

// goBuild builds the program from the sources in a directory; "" means this test's own module. Debug information would make linking slower.
func goBuild(sources, binary string) error {
	command := exec.CommandContext(context.Background(), "go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", binary, "tarsy.dev/tarsy/cmd/tarsy")
	command.Dir = sources

	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("build the program: %w\n%s", err, output)
	}

	return nil
}

// buildProgram returns the program under a path that only this test uses, by which its processes can be recognized.
func buildProgram(t *testing.T) string {
	t.Helper()

	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("the program cannot be built here: %v", err)
	}

	shared, err := theProgram.built()
	require.NoError(t, err)

	binary := filepath.Join(t.TempDir(), "tarsy")
	require.NoError(t, os.Link(shared, binary))

	return binary
}

// errNoHistory means that a release's sources are not available here.
var errNoHistory = errors.New("an earlier release cannot be built here")

// previousProgram returns the previous release's program.
func previousProgram(t *testing.T) string {
	t.Helper()

	releases := listedReleases(t)

	return releases[len(releases)-1].program(t)
}

// withoutVerdicts returns the program of the build that knows neither verdicts nor the reason "resolved" for an early conclusion.
func withoutVerdicts(t *testing.T) string {
	t.Helper()

	releases := listedReleases(t)
	at := slices.IndexFunc(releases, func(r listedRelease) bool { return r.version == unreleased })
	require.GreaterOrEqual(t, at, 0, "%s has no line %s", releasesFile, unreleased)

	return releases[at].program(t)
}

func (r listedRelease) program(t *testing.T) string {
	t.Helper()

	binary, err := theProgram.release(r.commit)
	if errors.Is(err, errNoHistory) {
		t.Skip(err)
	}

	require.NoError(t, err)

	return binary
}

// release builds a commit, once per test run.
func (p *programs) release(commit string) (string, error) {
	p.mu.Lock()
	build := p.releases[commit]

	if build == nil {
		build = sync.OnceValues(func() (string, error) { return buildRelease(commit) })
		p.releases[commit] = build
	}
	p.mu.Unlock()

	return build()
}

// buildRelease builds a commit and keeps the binary in .cache, which outlives the run.
func buildRelease(commit string) (string, error) {
	cache, err := filepath.Abs(filepath.Join("..", ".cache", "releases"))
	if err != nil {
		return "", fmt.Errorf("find the cache: %w", err)
	}

	binary := filepath.Join(cache, "tarsy-"+commit)
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}

	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", fmt.Errorf("make the cache: %w", err)
	}

	sources, err := os.MkdirTemp("", "tarsy-e2e-previous-")
	if err != nil {
		return "", fmt.Errorf("make a directory for the sources: %w", err)
	}
	defer os.RemoveAll(sources)

	if err := checkOut(commit, sources); err != nil {
		return "", err
	}

	// Another test run may build the same commit: a file in the cache is always complete, whoever put it there.
	building := filepath.Join(sources, "tarsy")
	if err := goBuild(sources, building); err != nil {
		return "", err
	}

	return binary, moveFile(building, binary)
}

// checkOut writes a commit's files to a directory, without touching the repository's index or working tree.
func checkOut(commit, dir string) error {
	git := func(args ...string) error {
		command := exec.CommandContext(context.Background(), "git", args...)
		command.Env = append(os.Environ(), "GIT_INDEX_FILE="+filepath.Join(dir, ".index"))
		command.Dir = ".."

		output, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(string(output)))
		}

		return nil
	}

	if err := git("cat-file", "-e", commit+"^{commit}"); err != nil {
		return fmt.Errorf("%w: commit %s is not in this clone, which may be shallow: %w", errNoHistory, commit, err)
	}

	if err := git("read-tree", commit); err != nil {
		return err
	}

	return git("checkout-index", "--all", "--prefix="+dir+"/")
}

// moveFile moves a file atomically, also across file systems.
func moveFile(from, to string) error {
	raw, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("read the built program: %w", err)
	}

	temporary, err := os.CreateTemp(filepath.Dir(to), "building-")
	if err != nil {
		return fmt.Errorf("keep the built program: %w", err)
	}

	_, err = temporary.Write(raw)
	if err := errors.Join(err, temporary.Chmod(0o755), temporary.Close()); err != nil {
		return fmt.Errorf("keep the built program: %w", err)
	}

	if err := os.Rename(temporary.Name(), to); err != nil {
		return fmt.Errorf("keep the built program: %w", err)
	}

	return nil
}
