package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// quick vets and tests what a change affects, as much of it as fits into a minute.
type quick struct {
	out    *screen
	stderr io.Writer
	root   string // of the module and of the repository
	// parallel is how many packages are tested concurrently.
	parallel int
	// homes is where PostgreSQL servers of runs can be.
	homes []string
}

const (
	// quickBudget limits the duration of the tests according to the history; go list, go vet and the first build come on top of it.
	quickBudget = 40 * time.Second
	// quickLimit is when the run should end. Packages whose tests would take longer are not started, because
	// compiling may have taken longer than expected.
	quickLimit = 55 * time.Second
	// buildCost is the wall time for compiling and linking the tests of a package after a change, on two cores.
	buildCost = 1500 * time.Millisecond
)

// slowPackages are the packages whose tests start programs and always take minutes.
var slowPackages = []string{"e2e", "bench", "examples"}

// guesses are the durations in seconds for packages without history, by what they import. The first match counts.
var guesses = []struct {
	imported string // without the module
	seconds  float64
}{
	{"tarsytest", 60}, {"internal/app", 60}, {"internal/postgres/private", 60}, {"internal/postgres/pgtest", 20}, {"internal/postgres/storetest", 20},
}

// guess returns the estimated duration of the tests of an unknown package.
func (p goPackage) guess() float64 {
	for _, g := range guesses {
		for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if short(imported) == g.imported {
				return g.seconds
			}
		}
	}

	return 1
}

// seconds returns the duration of the tests of a package, from the history or a guess.
func (m module) seconds(directory string, past history) float64 {
	return cmp.Or(past.seconds(m[directory].ImportPath), m[directory].guess())
}

// cost returns the wall time of testing a package in parallel with others.
func (m module) cost(directory string, past history, parallel int) time.Duration {
	return buildCost + time.Duration(m.seconds(directory, past)*float64(time.Second))/time.Duration(parallel)
}

// plan lists the directories whose tests run, and those left out.
type plan struct {
	run      []string
	skipped  []string // with the reason
	estimate time.Duration
}

// choose selects packages that fit the budget, the nearest first, and the quickest first among equally near ones.
func choose(affected map[string]int, m module, past history, parallel int) plan {
	var p plan

	seconds := func(directory string) float64 { return m.seconds(directory, past) }
	directories := slices.SortedFunc(maps.Keys(affected), func(a, b string) int {
		return cmp.Or(cmp.Compare(affected[a], affected[b]), cmp.Compare(seconds(a), seconds(b)), cmp.Compare(a, b))
	})

	for _, directory := range directories {
		if slices.Contains(slowPackages, directory) {
			p.skipped = append(p.skipped, directory+" (takes minutes)")

			continue
		}

		cost := m.cost(directory, past, parallel)
		if p.estimate+cost > quickBudget {
			p.skipped = append(p.skipped, fmt.Sprintf("%s (%.0f s)", directory, seconds(directory)))

			continue
		}

		p.estimate += cost
		p.run = append(p.run, directory)
	}

	return p
}

// run reports whether everything that it ran has passed.
func (q *quick) run(ctx context.Context) (bool, error) {
	until := time.Now().Add(quickLimit)

	base, files, err := q.changes(ctx)
	if err != nil {
		return false, err
	}

	if len(files) == 0 {
		q.printf("nothing changed since %s\n", base)

		return true, nil
	}

	listed, err := q.output(ctx, "go", "list", "-e", "-json="+listedFields, "./...")
	if err != nil {
		return false, err
	}

	m, err := parseModule(q.root, strings.NewReader(listed))
	if err != nil {
		return false, err
	}

	changed := m.changed(files)
	p := choose(m.affected(changed), m, readHistory(q.root), q.parallel)

	q.printf("%d files changed since %s, in packages: %s\n", len(files), base, listOr(slices.Sorted(maps.Keys(changed)), "none"))
	q.printf("running:  %s\n", listOr(p.run, "no Go tests"))

	if len(p.skipped) > 0 {
		q.printf("not run:  %s; make test-go runs them\n", strings.Join(p.skipped, ", "))
	}

	vetted, good := true, true

	if all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(p.run, slices.Collect(maps.Keys(changed)))))); len(all) > 0 {
		vetted = q.vet(ctx, all)
	}

	if len(p.run) > 0 {
		good, err = q.test(ctx, p.run, until, m.expected(readHistory(q.root), q.parallel))
	}

	dashboard, dashboardErr := q.testDashboard(ctx, files)

	return vetted && good && dashboard, errors.Join(err, dashboardErr)
}

// changes returns the files that differ from the point where this branch left origin/main. Without origin/main, it returns those that
// differ from the last commit or, if there are none, those of the last commit.
func (q *quick) changes(ctx context.Context) (base string, files []string, err error) {
	base = "HEAD"
	if fork, err := q.output(ctx, "git", "merge-base", "origin/main", "HEAD"); err == nil {
		base = strings.TrimSpace(fork)
	}

	for {
		differ, err := q.output(ctx, "git", "diff", "--name-only", "--no-renames", base, "--")
		if err != nil {
			return base, nil, err
		}

		added, err := q.output(ctx, "git", "ls-files", "--others", "--exclude-standard")
		if err != nil {
			return base, nil, err
		}

		files = slices.Concat(strings.Fields(differ), strings.Fields(added))
		if len(files) > 0 || base != "HEAD" {
			return base, files, nil
		}

		if !q.exists(ctx, "HEAD~1") {
			return base, nil, nil
		}

		base = "HEAD~1"
	}
}

// exists reports whether a commit exists.
func (q *quick) exists(ctx context.Context, commit string) bool {
	_, err := q.output(ctx, "git", "rev-parse", "--verify", commit)

	return err == nil
}

// vet also vets changed packages without tests.
func (q *quick) vet(ctx context.Context, directories []string) bool {
	begin := time.Now()
	vet := exec.CommandContext(ctx, "go", append([]string{"vet"}, patterns(directories)...)...)
	vet.Dir, vet.Stdout, vet.Stderr = q.root, q.out, q.stderr
	good := vet.Run() == nil // it has printed why not

	q.printf("vetted %d packages in %.0f s\n", len(directories), time.Since(begin).Seconds())

	return good
}

func patterns(directories []string) []string {
	packages := make([]string, len(directories))
	for i, directory := range directories {
		packages[i] = "./" + directory
	}

	return packages
}

// expected returns a function that estimates the duration of testing packages together: at least that of the slowest one.
func (m module) expected(past history, parallel int) func(packages []string) time.Duration {
	return func(packages []string) time.Duration {
		var all, longest time.Duration

		for _, name := range packages {
			directory := strings.TrimPrefix(name, "./")
			all += m.cost(directory, past, parallel)
			longest = max(longest, m.cost(directory, past, 1))
		}

		return max(all, longest)
	}
}

// test tests packages, the nearest first. Without -shuffle, go caches passed tests that did not change. Packages that do not start in time
// are printed: cutting off running ones would leave behind servers that their tests started.
func (q *quick) test(ctx context.Context, directories []string, until time.Time, expected func([]string) time.Duration) (bool, error) {
	r := &runner{out: q.out, stderr: q.stderr, directory: q.root, homes: q.homes, until: until, expected: expected, arguments: arguments{
		flags: []string{"-vet=off", fmt.Sprintf("-p=%d", q.parallel)}, packages: patterns(directories),
	}}

	return r.run(ctx)
}

// testDashboard runs the unit tests of the dashboard that import a changed file.
func (q *quick) testDashboard(ctx context.Context, files []string) (bool, error) {
	var sources []string

	for _, file := range files {
		if strings.HasPrefix(file, "web/src/") && isThere(filepath.Join(q.root, file)) {
			sources = append(sources, strings.TrimPrefix(file, "web/"))
		}
	}

	if len(sources) == 0 {
		return true, nil
	}

	if !isThere(filepath.Join(q.root, "web", "node_modules")) {
		q.printf("not run:  unit tests of the dashboard: its packages are missing; make web-packages installs them\n")

		return true, nil
	}

	q.printf("running:  unit tests of the dashboard that import %s\n", strings.Join(sources, ", "))

	related := exec.CommandContext(ctx, "npx", append([]string{
		"vitest", "related", "--run", "--project", "unit", "--project", "dom", "--reporter=dot", "--passWithNoTests",
	}, sources...)...)
	related.Dir, related.Stdout, related.Stderr = filepath.Join(q.root, "web"), q.out, q.stderr
	related.Env = append(os.Environ(), "NO_COLOR=1")

	err := related.Run()
	if related.ProcessState == nil {
		return false, fmt.Errorf("start vitest: %w", err)
	}

	return err == nil, nil
}

func isThere(file string) bool {
	_, err := os.Stat(file)

	return err == nil
}

// output returns the output of a program. If it fails, the error contains what it printed to stderr.
func (q *quick) output(ctx context.Context, program string, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir = q.root

	out, err := command.Output()
	if failed := new(exec.ExitError); errors.As(err, &failed) {
		err = fmt.Errorf("%s %s: %s", program, arguments[0], strings.TrimSpace(string(failed.Stderr)))
	}

	return string(out), err
}

func (q *quick) printf(format string, args ...any) { fmt.Fprintf(q.out, format, args...) }

// listOr joins names with commas, or returns none if there are no names.
func listOr(names []string, none string) string {
	return cmp.Or(strings.Join(names, ", "), none)
}
