package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// usage describes where the CPU time of a run went.
type usage struct {
	total map[class]time.Duration
	wall  time.Duration
	// busy is the CPU time of all programs on the machine during the run.
	busy  time.Duration
	cores int
	// unseen is the CPU time of processes that ended between two samples.
	unseen time.Duration
}

// addCommand compares the samples with the CPU time that the system reports for a command and its children.
func (u *usage) addCommand(used time.Duration) {
	sampled := time.Duration(0)

	for c, cpu := range u.total {
		if c.kind != kindPostgres {
			sampled += cpu
		}
	}

	u.unseen = max(0, used-sampled)
}

// print writes the table.
func (u *usage) print(out io.Writer, title string) {
	const mostPackages = 12

	kinds, packages := map[string]time.Duration{}, map[string]time.Duration{}
	sampled := time.Duration(0)

	for c, cpu := range u.total {
		kinds[c.kind] += cpu
		sampled += cpu

		if c.pkg != "" {
			packages[c.pkg] += cpu
		}
	}

	capacity := time.Duration(u.cores) * u.wall
	row := func(name string, cpu time.Duration) {
		if cpu >= 5*tick { // omit what would be shown as 0.0
			fmt.Fprintf(out, "  %-44s %8.1f s %5.1f %%\n", name, cpu.Seconds(), 100*cpu.Seconds()/max(capacity.Seconds(), 1e-9))
		}
	}

	fmt.Fprintf(out, "\n%s: %.1f s on %d cores, where the CPU time went:\n", title, u.wall.Seconds(), u.cores)

	for _, kind := range byDuration(kinds) {
		row(kind, kinds[kind])

		if kind != kindTest {
			continue
		}

		names := byDuration(packages)
		for _, pkg := range names[:min(mostPackages, len(names))] {
			row("  "+pkg, packages[pkg])
		}

		rest := time.Duration(0)
		for _, pkg := range names[min(mostPackages, len(names)):] {
			rest += packages[pkg]
		}

		row(fmt.Sprintf("  %d more packages", len(names)-mostPackages), rest)
	}

	row("processes too short to be seen", u.unseen)
	row("other programs on this machine", max(0, u.busy-sampled-u.unseen))
	row("waiting", max(0, capacity-u.busy))
}

// byDuration returns the names, sorted by descending duration.
func byDuration(durations map[string]time.Duration) []string {
	return slices.SortedFunc(maps.Keys(durations), func(a, b string) int {
		return cmp.Or(cmp.Compare(durations[b], durations[a]), cmp.Compare(a, b))
	})
}

// printSlowestByGroup prints the slowest tests of the packages or files whose tests took longest in total.
func printSlowestByGroup(out io.Writer, tests []tested) {
	const mostGroups, mostTests = 5, 5

	groups, sums := map[string][]tested{}, map[string]time.Duration{}

	for _, t := range tests {
		groups[t.pkg] = append(groups[t.pkg], t)
		sums[t.pkg] += time.Duration(t.seconds * float64(time.Second))
	}

	names := byDuration(sums)

	for _, name := range names[:min(mostGroups, len(names))] {
		fmt.Fprintf(out, "\n%s: %d tests, %.1f s in all, the slowest:\n", short(name), len(groups[name]), sums[name].Seconds())

		for _, t := range slowest(groups[name], mostTests) {
			fmt.Fprintf(out, "  %7.2f s  %s\n", t.seconds, t.test)
		}
	}
}
