package slowness

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestFactorGrowsWithSlownessAndLoad(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		m    measurement
		want float64
	}{
		"idle machine of the reference":  {measurement{reference, 0.3, 2, CPU{}}, 1},
		"faster machine":                 {measurement{reference / 3, 0, 8, CPU{}}, 1},
		"slow machine":                   {measurement{3 * reference, 0, 2, CPU{}}, 3},
		"busy machine":                   {measurement{reference, 8, 2, CPU{}}, 4},
		"busy, but not more than cores":  {measurement{reference, 8, 8, CPU{}}, 1},
		"slow and busy machine":          {measurement{2 * reference, 6, 2, CPU{}}, 6},
		"hopeless machine":               {measurement{40 * reference, 100, 2, CPU{}}, 20},
		"machine whose host is busy":     {measurement{reference, 0, 2, CPU{Ran: 25, Stolen: 75}}, 4},
		"machine that never runs":        {measurement{reference, 0, 2, CPU{Stolen: 1}}, 20},
		"nothing is known":               {measurement{}, 1},
		"fast machine with a long queue": {measurement{reference / 2, 4, 2, CPU{}}, 2},
	} {
		require.InDelta(t, test.want, test.m.factor(), 1e-9, name)
	}
}

func TestScaledLimitIsNeverShorter(t *testing.T) {
	t.Parallel()

	require.Equal(t, time.Second, scale(time.Second, 1))
	require.Equal(t, 90*time.Second, scale(time.Minute, 1.5))
	require.Equal(t, time.Minute, scale(time.Minute, 0.5))

	d := Scale(time.Minute)
	require.GreaterOrEqual(t, d, time.Minute)
	require.LessOrEqual(t, d, 20*time.Minute)
	require.Equal(t, d, Scale(time.Minute), "it is measured once")
}

// steps returns a clock that advances each time it is read.
func steps(step time.Duration) func() time.Time {
	now := time.Unix(0, 0)

	return func() time.Time {
		now = now.Add(step)

		return now
	}
}

func TestMeasuringEndsAfterFourMilliseconds(t *testing.T) {
	t.Parallel()

	require.Equal(t, 20*10*time.Microsecond, timeWork(steps(10*time.Microsecond)))

	looks := 0
	slow := steps(time.Millisecond)
	spent := timeWork(func() time.Time { looks++; return slow() })
	require.Equal(t, 20*time.Millisecond, spent, "the rest is estimated")
	require.Equal(t, 5, looks, "four parts were done")
}

func TestBubbleDoesNotMeasureForTheProcess(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(*testing.T) { require.Zero(t, measure().work) })
}

func TestLoadIsRead(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "loadavg")
	require.Zero(t, readLoad(file))
	require.NoError(t, os.WriteFile(file, []byte("12.38 8.77 7.27 3/900 123\n"), 0o644))
	require.InDelta(t, 12.38, readLoad(file), 1e-9)
	require.NoError(t, os.WriteFile(file, []byte("busy\n"), 0o644))
	require.Zero(t, readLoad(file))
}

func TestCPUTimeIsRead(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "stat")
	require.Zero(t, readCPU(file))

	for text, want := range map[string]CPU{
		"cpu  10 1 5 900 30 2 2 60 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\n": {Ran: 20, Stolen: 60},
		"cpu  10 1 5 900 30 2 2\n":                                  {},
		"cpu  10 1 5 many 30 2 2 60\n":                              {},
		"":                                                          {},
	} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
		require.Equal(t, want, readCPU(file), text)
	}

	require.InDelta(t, 0.75, CPU{Ran: 30, Stolen: 70}.Since(CPU{Ran: 20, Stolen: 40}).StolenShare(), 1e-9)
	require.Zero(t, CPU{Ran: 1}.Since(CPU{Ran: 2, Stolen: 3}).StolenShare())
}

func BenchmarkMeasure(b *testing.B) {
	for b.Loop() {
		_ = measure()
	}
}

func BenchmarkWork(b *testing.B) {
	table := make([]uint32, 1<<10)
	for b.Loop() {
		for range 20 {
			work(table)
		}
	}
}

// elapsed matches comparisons of a measured duration with a fixed limit, which fail on a busy machine.
var elapsed = regexp.MustCompile(`require\.Less(OrEqual)?\(t, (time\.Since\(\w+\)|took|elapsed), [^,\n]*\btime\.(Millisecond|Second|Minute)\b`)

// Tests in a testing/synctest bubble have a fake clock, and benchmarks only run by hand, so neither is checked.
func TestLimitsOfMeasuredDurationsAreScaled(t *testing.T) {
	t.Parallel()

	checked := 0

	require.NoError(t, filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "bench" || entry.Name() == ".cache"):
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}

		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		checked++

		if strings.Contains(string(text), "synctest.Test(") {
			return nil
		}

		for _, line := range elapsed.FindAllString(string(text), -1) {
			require.Contains(t, line, "slowness.Scale(", "%s compares a duration with a fixed limit: %s", path, line)
		}

		return nil
	}))
	require.Greater(t, checked, 500)
	require.Regexp(t, elapsed, "require.Less(t, time.Since(begun), 4*time.Second)")
}
