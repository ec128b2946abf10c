package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeProc is a directory like /proc.
type fakeProc struct {
	t   *testing.T
	dir string
}

// set writes or changes a process, with its CPU time in hundredths of a second.
func (f fakeProc) set(pid, parent int, name string, ticks int, cwd string, arguments ...string) {
	f.t.Helper()

	dir := filepath.Join(f.dir, strconv.Itoa(pid))
	require.NoError(f.t, os.MkdirAll(dir, 0o755))

	stat := fmt.Sprintf("%d (%s) S %d 0 0 0 0 0 0 0 0 0 %d 0 0 0 0 0 0 0 77%d 0\n", pid, name, parent, ticks, pid)
	require.NoError(f.t, os.WriteFile(filepath.Join(dir, "stat"), []byte(stat), 0o644))
	require.NoError(f.t, os.WriteFile(filepath.Join(dir, "cmdline"), []byte(strings.Join(arguments, "\x00")+"\x00"), 0o644))

	if _, err := os.Lstat(filepath.Join(dir, "cwd")); err != nil {
		require.NoError(f.t, os.Symlink(cwd, filepath.Join(dir, "cwd")))
	}
}

// machine writes the CPU time of a machine with two cores.
func (f fakeProc) machine(user, system, idle int) {
	f.t.Helper()

	text := fmt.Sprintf("cpu  %d 0 %d %d 7 0 0 0 9 9\ncpu0 1 1\ncpu1 1 1\nintr 5\n", user, system, idle)
	require.NoError(f.t, os.WriteFile(filepath.Join(f.dir, "stat"), []byte(text), 0o644))
}

func TestSamplerCountsProcessesByWhatTheyDo(t *testing.T) {
	t.Parallel()

	const self = 10

	f := fakeProc{t, t.TempDir()}
	f.machine(1000, 100, 5000)
	f.set(1, 0, "init", 500, "/")
	f.set(self, 1, "testsummary", 30, "/src", "testsummary")
	f.set(50, 1, "postgres", 200, "/data", "postgres: checkpointer")

	s, err := newSampler(processTable(f.dir), self, "/src")
	require.NoError(t, err)

	goTest := []string{"/tmp/b1/e2e.test", "-test.paniconexit0", "-test.timeout=30m0s"}

	f.set(11, self, "go", 20, "/src", "go", "test")
	f.set(12, 11, "compile", 100, "/src", "/go/pkg/tool/compile", "-o", "x")
	f.set(13, 11, "e2e.test", 300, "/src/e2e", goTest...)
	f.set(14, 13, "e2e.test", 5, "/src/e2e", goTest...) // a server that has not yet executed its program
	f.set(50, 1, "postgres", 260, "/data", "postgres: checkpointer")
	f.set(60, 1, "compile", 400, "/elsewhere", "compile") // another user's process
	require.NoError(t, s.sample())

	f.set(14, 13, "e2e.test", 45, "/src/e2e", "/tmp/b1/e2e.test")
	f.set(15, 11, "a name (cut", 50, "/src/internal/cli", "/tmp/b2/cli.test", "-test.paniconexit0")
	f.set(16, 14, "node", 10, "/src", "/usr/bin/node", "server.js")
	require.NoError(t, s.sample())

	require.NoError(t, os.RemoveAll(filepath.Join(f.dir, "14")))
	f.set(16, 1, "node", 25, "/src", "/usr/bin/node", "server.js") // its parent has ended
	f.machine(1500, 200, 5400)
	s.start()
	u := s.stop()

	nonzero := map[class]time.Duration{}

	for c, cpu := range u.total {
		if cpu > 0 {
			nonzero[c] = cpu
		}
	}

	require.Equal(t, map[class]time.Duration{
		{kindOther, ""}:            200 * time.Millisecond,
		{kindCompile, ""}:          time.Second,
		{kindTest, "e2e"}:          3*time.Second + 50*time.Millisecond,
		{kindTest, "internal/cli"}: 500 * time.Millisecond,
		{kindProduct, ""}:          400 * time.Millisecond,
		{kindNode, ""}:             250 * time.Millisecond,
		{kindPostgres, ""}:         600 * time.Millisecond,
	}, nonzero)
	require.Equal(t, 2, u.cores)
	require.Equal(t, 6*time.Second, u.busy)
}

func TestSamplerNeedsProc(t *testing.T) {
	t.Parallel()

	_, err := newSampler(processTable(filepath.Join(t.TempDir(), "proc")), 1, "/")
	require.ErrorIs(t, err, os.ErrNotExist)

	var out strings.Builder

	(&meter{begin: time.Now()}).print(&out, "Go tests", nil)
	require.Equal(t, "\nGo tests: 0.0 s; CPU times need /proc, which only Linux has\n", out.String())
}

func TestTableSplitsTheCapacityOfTheMachine(t *testing.T) {
	t.Parallel()

	u := usage{
		total: map[class]time.Duration{
			{kindTest, "e2e"}: 6 * time.Second, {kindTest, "llm"}: 2 * time.Second, {kindPostgres, ""}: 3 * time.Second, {kindLink, ""}: time.Second,
		},
		wall: 10 * time.Second, busy: 15 * time.Second, cores: 2,
	}
	u.addCommand(10 * time.Second)

	var out strings.Builder

	u.print(&out, "Go tests")
	require.Equal(t, `
Go tests: 10.0 s on 2 cores, where the CPU time went:
  test processes                                    8.0 s  40.0 %
    e2e                                             6.0 s  30.0 %
    llm                                             2.0 s  10.0 %
  PostgreSQL                                        3.0 s  15.0 %
  link                                              1.0 s   5.0 %
  processes too short to be seen                    1.0 s   5.0 %
  other programs on this machine                    2.0 s  10.0 %
  waiting                                           5.0 s  25.0 %
`, out.String())
}

func TestSlowestTestsAreOfTheSlowestPackages(t *testing.T) {
	t.Parallel()

	var tests []tested

	for i := range 7 {
		for j := range 7 {
			tests = append(tests, tested{testName{fmt.Sprintf("tarsy.dev/tarsy/p%d", i), fmt.Sprintf("Test%d", j)}, float64(10*i + j)})
		}
	}

	var out strings.Builder

	printSlowestByGroup(&out, tests)
	require.True(t, strings.HasPrefix(out.String(), "\np6: 7 tests, 441.0 s in all, the slowest:\n    66.00 s  Test6\n    65.00 s  Test5\n"), out.String())
	require.NotContains(t, out.String(), "p1:")
	require.NotContains(t, out.String(), "Test1")
}

func TestVitestReportIsRead(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "report.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"testResults":[{"name":"/src/web/test/browser/scroll.test.ts",
		"assertionResults":[{"fullName":"scrolls","status":"passed","duration":1500.5}]}]}`), 0o644))

	tests, err := readVitest(file, "/src/web")
	require.NoError(t, err)
	require.Equal(t, []tested{{testName{"test/browser/scroll.test.ts", "scrolls"}, 1.5005}}, tests)

	_, err = readVitest(file+".missing", "/src/web")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestTimesOfARunAreMeasured(t *testing.T) {
	t.Parallel()

	module := newModule(t, map[string]string{"a/a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {}\n"})

	var out strings.Builder

	r := &runner{out: newScreen(&out, false), stderr: &out, arguments: parseArguments([]string{"./..."}), directory: module, times: true}
	good, err := r.run(t.Context())
	require.NoError(t, err)
	require.True(t, good)
	require.Contains(t, out.String(), "\nGo tests: ")
	require.Contains(t, out.String(), "\nexample.test/a: 1 tests, 0.0 s in all, the slowest:\n")
	require.True(t, strings.HasSuffix(out.String(), "\n1 passed, 0 failed, 0 skipped\n"), out.String())
}
