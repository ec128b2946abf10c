// Package figures compares measured costs with committed figures, each of which has a reason. It knows nothing about what
// is measured.
//
// A file has one figure per line: a name, a number and the reason, separated by "|". Lines that begin with # are comments.
package figures

import (
	"flag"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// tolerance is how far a cost may deviate from its figure, in either direction: a cost that has dropped must not rise again
// unnoticed.
const tolerance = 0.05

// figure is the expected cost of something and the reason for it.
type figure struct {
	number float64
	why    string
}

// Compare compares costs with the figures in a file, or writes them to it when -update is given. Figures that were not
// measured are reported, unless optional returns true because they cannot be measured everywhere; a nil optional means that
// all can.
func Compare(tb testing.TB, file string, measured map[string]float64, optional func(name string) bool) {
	tb.Helper()

	figures, comment, err := read(file)
	require.NoError(tb, err)
	require.NotEmpty(tb, comment, "%s has no comment that describes it", file)

	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		require.NoError(tb, write(file, comment, figures, measured))

		return
	}

	for _, name := range slices.Sorted(maps.Keys(measured)) {
		if problem := compare(file, name, measured[name], figures); problem != "" {
			tb.Error(problem)
		}
	}

	for _, name := range slices.Sorted(maps.Keys(figures)) {
		if _, ok := measured[name]; !ok && (optional == nil || !optional(name)) {
			tb.Errorf("%s has a figure in %s and was not measured: remove it", name, file)
		}
	}
}

// compare returns the problem with a cost, or "" if the cost is as expected.
func compare(file, name string, cost float64, figures map[string]figure) string {
	known, ok := figures[name]

	switch {
	case !ok:
		return fmt.Sprintf("%s has no figure: add it to %s with make golden, and add the reason", name, file)
	case known.why == "":
		return fmt.Sprintf("the figure of %s in %s has no reason: add one", name, file)
	case math.Abs(cost-known.number) <= tolerance*known.number:
		return ""
	}

	direction := "more"
	if cost < known.number {
		direction = "less"
	}

	return fmt.Sprintf("%s: %.4g, %.1f %% %s than the %.4g of %s (%s). Find the change that caused it. If the new cost is right, write it there with the reason.",
		name, cost, 100*math.Abs(cost-known.number)/max(known.number, 1e-9), direction, known.number, file, known.why)
}

func read(file string) (figures map[string]figure, comment string, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, "", fmt.Errorf("read figures: %w", err)
	}

	figures = map[string]figure{}

	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			comment += line

			continue
		}

		name, rest, _ := strings.Cut(line, "|")
		number, why, ok := strings.Cut(rest, "|")

		var known figure

		if _, err := fmt.Sscan(number, &known.number); err != nil || !ok {
			return nil, "", fmt.Errorf("%s: %q is not a name, a number and a reason", file, line)
		}

		known.why = strings.TrimSpace(why)
		figures[strings.TrimSpace(name)] = known
	}

	return figures, comment, nil
}

// write writes the measured costs and keeps the existing reasons. The reason for a new cost must be added by hand.
func write(file, comment string, figures map[string]figure, measured map[string]float64) error {
	width := 0

	for name, number := range measured {
		figures[name] = figure{number: number, why: figures[name].why}
	}

	for name := range figures {
		width = max(width, len(name))
	}

	var text strings.Builder

	text.WriteString(comment)

	for _, name := range slices.Sorted(maps.Keys(figures)) {
		fmt.Fprintf(&text, "%-*s | %10.4g | %s\n", width, name, figures[name].number, figures[name].why)
	}

	return os.WriteFile(file, []byte(text.String()), 0o600)
}
