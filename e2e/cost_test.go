package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/figures"
)

// costFile has the committed figures.
const costFile = "testdata/costs.txt"

// Times are noise on a shared machine, counts are not. A changed cost is noticed with the change that caused it.
func TestCostsStayAtCommittedFigures(t *testing.T) {
	t.Parallel()

	const heap = "start: heap in bytes"

	measured := measureCosts(t)
	maps.Copy(measured, sizes(t))

	// A server has an index of the dashboard's files in memory.
	if _, built := measured["bytes of the page"]; !built {
		t.Log("the heap is compared only where the dashboard is built")
		delete(measured, heap)
	}

	figures.Compare(t, costFile, measured, func(name string) bool { return name == heap || strings.HasPrefix(name, "bytes of ") })
}

// measureCosts runs the measurements in a separate process: allocations are counted per process.
func measureCosts(t *testing.T) map[string]float64 {
	t.Helper()

	binary, err := os.Executable()
	require.NoError(t, err)

	results := filepath.Join(t.TempDir(), "costs.json")
	command := exec.CommandContext(t.Context(), binary)
	command.Env = append(os.Environ(), costVariable+"="+results)
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", output)

	raw, err := os.ReadFile(results)
	require.NoError(t, err)

	measured := map[string]float64{}
	require.NoError(t, json.Unmarshal(raw, &measured))

	return measured
}

// sizes returns how many bytes people download: the program without the dashboard embedded in it, and the dashboard. The
// program is measured on one platform, the dashboard only where it was built.
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

// pageBytes returns the size of the embedded files, and of the compressed ones among them.
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
