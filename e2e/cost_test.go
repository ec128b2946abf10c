package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// costFile holds the figures, one per line: a name, a number, and why it is what it is.
const costFile = "testdata/costs.txt"

// costTolerance is by how much a cost may differ from its figure, in both directions: what becomes cheaper is to stay so.
const costTolerance = 0.05

// costFigure is what somebody decided that something costs.
type costFigure struct {
	number float64
	why    string
}

// Times are noise on a shared machine, counts are not. A cost that changed is found here by the change that caused it.
func TestCostsStayAtCommittedFigures(t *testing.T) {
	t.Parallel()

	measured := measureCosts(t)
	maps.Copy(measured, sizes(t))

	if updateCosts() {
		writeFigures(t, measured)

		return
	}

	figures, comment := readFigures(t)
	require.NotEmpty(t, comment)

	for name, cost := range measured {
		if problem := compareCost(name, cost, figures); problem != "" {
			t.Error(problem)
		}
	}

	for name := range figures {
		if _, ok := measured[name]; !ok && !strings.HasPrefix(name, "bytes of ") {
			t.Errorf("%s has a figure in %s and was not measured: remove it", name, costFile)
		}
	}
}

func TestCostBeyondToleranceIsReported(t *testing.T) {
	t.Parallel()

	figures := map[string]costFigure{"statements": {number: 100}, "nothing": {}}

	require.Empty(t, compareCost("statements", 105, figures))
	require.Empty(t, compareCost("statements", 95, figures))
	require.Empty(t, compareCost("nothing", 0, figures))
	require.Contains(t, compareCost("statements", 105.2, figures), "105.2, 5.2 % more than the 100 of "+costFile)
	require.Contains(t, compareCost("statements", 94, figures), "94, 6.0 % less than")
	require.Contains(t, compareCost("nothing", 1, figures), "more than the 0 of")
	require.Contains(t, compareCost("unheard of", 1, figures), "has no figure")
}

// compareCost returns what is wrong with a cost; empty if it is as expected.
func compareCost(name string, cost float64, figures map[string]costFigure) string {
	figure, known := figures[name]
	if !known {
		return fmt.Sprintf("%s has no figure: add it to %s with make golden, and write why it is what it is", name, costFile)
	}

	if math.Abs(cost-figure.number) <= costTolerance*figure.number {
		return ""
	}

	direction := "more"
	if cost < figure.number {
		direction = "less"
	}

	return fmt.Sprintf("%s: %.4g, %.1f %% %s than the %.4g of %s (%s). Find the change that caused it. If the new cost is right, write it there with the reason.",
		name, cost, 100*math.Abs(cost-figure.number)/max(figure.number, 1e-9), direction, figure.number, costFile, figure.why)
}

// measureCosts runs the measurements in a process of their own: allocations are counted per process.
func measureCosts(t *testing.T) map[string]float64 {
	t.Helper()

	binary, err := os.Executable()
	require.NoError(t, err)

	results := filepath.Join(t.TempDir(), "costs.json")
	command := exec.CommandContext(t.Context(), binary)
	command.Env = append(os.Environ(), costVariable+"="+results)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)

	raw, err := os.ReadFile(results)
	require.NoError(t, err)

	measured := map[string]float64{}
	require.NoError(t, json.Unmarshal(raw, &measured))

	return measured
}

// sizes are the bytes that people download: of the program without the page that is embedded in it, and of the page. They are those of one platform,
// and of the page only where it was built.
func sizes(t *testing.T) map[string]float64 {
	t.Helper()

	measured := map[string]float64{}
	page, compressed := pageBytes(t)

	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" {
		program, err := os.Stat(buildProgram(t))
		require.NoError(t, err)

		measured["bytes of the program"] = float64(program.Size()) - page
	} else {
		t.Logf("the size of the program is compared on linux/amd64 only")
	}

	if compressed > 0 {
		measured["bytes of the page"] = compressed
	} else {
		t.Logf("the size of the page is not compared: it was not built (make web)")
	}

	return measured
}

// pageBytes is the size of the files that are embedded, and of those among them that are compressed.
func pageBytes(t *testing.T) (all, compressed float64) {
	t.Helper()

	require.NoError(t, filepath.WalkDir(filepath.Join("..", "web", "dist"), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		info, err := entry.Info()
		if err != nil {
			return err
		}

		all += float64(info.Size())

		if strings.HasSuffix(path, ".br") {
			compressed += float64(info.Size())
		}

		return nil
	}))

	return all, compressed
}

func updateCosts() bool { return flag.Lookup("update").Value.String() == "true" }

func readFigures(t *testing.T) (figures map[string]costFigure, comment string) {
	t.Helper()

	raw, err := os.ReadFile(costFile)
	require.NoError(t, err)

	figures = map[string]costFigure{}

	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			comment += line

			continue
		}

		fields := strings.SplitN(strings.TrimSpace(line), "|", 3)
		require.Len(t, fields, 3, line)

		var figure costFigure

		_, err := fmt.Sscan(fields[1], &figure.number)
		require.NoError(t, err, line)

		figure.why = strings.TrimSpace(fields[2])
		require.NotEmpty(t, figure.why, "%q needs the reason for its figure", line)
		figures[strings.TrimSpace(fields[0])] = figure
	}

	return figures, comment
}

// writeFigures writes what was measured, with the reasons that were given before. A new one has to be given one by hand.
func writeFigures(t *testing.T, measured map[string]float64) {
	t.Helper()

	figures, comment := readFigures(t)

	for name, number := range measured {
		figures[name] = costFigure{number: number, why: figures[name].why}
	}

	var text strings.Builder

	text.WriteString(comment)

	for _, name := range slices.Sorted(maps.Keys(figures)) {
		fmt.Fprintf(&text, "%-42s | %10.4g | %s\n", name, figures[name].number, figures[name].why)
	}

	require.NoError(t, os.WriteFile(costFile, []byte(text.String()), 0o600))
}
