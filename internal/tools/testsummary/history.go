package main

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
)

const (
	keptDurations = 5
	keptResults   = 10
)

// history is how long earlier runs on this machine took and how they ended, by package. It only affects the order, so it can be deleted at
// any time, and the later of two concurrent runs wins.
type history map[string]record

// record is the history of a package, latest last.
type record struct {
	Seconds []float64 `json:"seconds,omitempty"`
	Failed  []bool    `json:"failed,omitempty"`
}

// historyFile returns the history file of a module.
func historyFile(root string) string { return filepath.Join(root, ".cache", "test-history.json") }

// readHistory returns an empty history if none can be read.
func readHistory(root string) history {
	h := history{}

	if raw, err := os.ReadFile(historyFile(root)); err == nil && json.Unmarshal(raw, &h) != nil {
		return history{}
	}

	return h
}

// write replaces the file atomically, because another run may be reading it.
func (h history) write(root string) error {
	raw, err := json.MarshalIndent(h, "", "\t")
	if err != nil {
		return err
	}

	directory := filepath.Dir(historyFile(root))
	if err = os.MkdirAll(directory, 0o755); err != nil {
		return err
	}

	file, err := os.CreateTemp(directory, ".test-history-")
	if err != nil {
		return err
	}

	_, err = file.Write(raw)
	if err = cmp.Or(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), historyFile(root))
	}

	if err != nil {
		_ = os.Remove(file.Name()) // report the write error
	}

	return err
}

// add records how the tests of a package ended. Their duration counts only if the run was usual: all tests of the package, once, and
// without the race detector.
func (h history) add(p packageResult, usual bool) {
	if p.empty || p.cached {
		return
	}

	r := h[p.name]
	r.Failed = last(append(r.Failed, p.failed), keptResults)

	if usual && !p.failed {
		r.Seconds = last(append(r.Seconds, p.seconds), keptDurations)
	}

	h[p.name] = r
}

func last[T any](values []T, most int) []T { return values[max(0, len(values)-most):] }

// seconds returns how long the tests of a package take: the median, because one run on a busy machine is not representative.
func (h history) seconds(pkg string) float64 {
	values := slices.Sorted(slices.Values(h[pkg].Seconds))
	if len(values) == 0 {
		return 0
	}

	return values[len(values)/2]
}

// failures returns how many of the latest runs of a package failed.
func (h history) failures(pkg string) int {
	count := 0

	for _, failed := range h[pkg].Failed {
		if failed {
			count++
		}
	}

	return count
}

// order sorts packages: the most frequently failing first, because their results are awaited, then the slowest, so that no core is idle at
// the end. Unknown ones come last, in their order. go test starts packages in the order of its arguments.
func (h history) order(packages []string) []string {
	packages = slices.Clone(packages)
	slices.SortStableFunc(packages, func(a, b string) int {
		return cmp.Or(cmp.Compare(h.failures(b), h.failures(a)), cmp.Compare(h.seconds(b), h.seconds(a)))
	})

	return packages
}

// usual reports whether durations of runs with these arguments can be compared.
func (a arguments) usual() bool {
	return !a.has("run", "skip", "short", "race", "count", "bench", "fuzz", "list", "cover", "coverprofile", "msan", "asan")
}
