package flowtest

import (
	"fmt"
	"strings"
	"testing"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/kit/golden"
)

// Step is an entry that a test expects.
type Step struct {
	description string
	matches     func(flow.Entry) bool
}

// Expect describes an entry of type T that meets every condition.
func Expect[T any](description string, conditions ...func(T) bool) Step {
	return Step{description: description, matches: func(entry flow.Entry) bool {
		if !flow.Is[T](entry) {
			return false
		}

		value, err := flow.As[T](entry)
		if err != nil {
			return false
		}

		for _, holds := range conditions {
			if !holds(value) {
				return false
			}
		}

		return true
	}}
}

// AssertOrdered fails the test unless the journal of a branch contains the steps in this order, possibly with other entries in
// between. The failure shows the journal with the steps beside the matching entries.
func (h *Host) AssertOrdered(branch string, steps ...Step) {
	h.t.Helper()

	var shown strings.Builder

	found := 0

	for _, record := range h.records(branch) {
		mark := "  "

		if found < len(steps) && steps[found].matches(record.Entry) {
			mark = fmt.Sprintf("✓ %s ←", steps[found].description)
			found++
		}

		fmt.Fprintf(&shown, "%4d %s %s\n", record.Position, mark, record.Entry)
	}

	if found == len(steps) {
		return
	}

	var missing []string
	for _, step := range steps[found:] {
		missing = append(missing, step.description)
	}

	h.t.Fatalf("%d of %d steps found in the journal of %q; missing, in this order: %s\n%s",
		found, len(steps), branch, strings.Join(missing, ", "), shown.String())
}

// WaitEntry waits until the journal of a branch contains an entry that matches, and returns it.
func (h *Host) WaitEntry(branch string, step Step, options ...WaitOption) flow.Entry {
	h.t.Helper()

	ctx, cancel := h.assertion(options)
	defer cancel()

	reader := h.Journal(branch)
	for record, err := range reader.Tail(ctx, 0) {
		if err != nil {
			h.t.Fatalf("waited for %s in the journal of %q: %v%s", step.description, branch, err, h.problems())
		}

		if step.matches(record.Entry) {
			return record.Entry
		}
	}

	return flow.Entry{}
}

// records returns all entries of a branch, oldest first.
func (h *Host) records(branch string) []journal.Record[flow.Entry] {
	h.t.Helper()

	ctx, cancel := h.assertion(nil)
	defer cancel()

	reader := h.Journal(branch)

	head, err := reader.Head(ctx)
	if err != nil {
		h.t.Fatalf("read the journal of %q: %v", branch, err)
	}

	var all []journal.Record[flow.Entry]

	for record, err := range reader.Backward(ctx, head+1) {
		if err != nil {
			h.t.Fatalf("read the journal of %q: %v", branch, err)
		}

		all = append([]journal.Record[flow.Entry]{record}, all...)
	}

	return all
}

// Records returns the entries of one type in the journal of a branch, oldest first, with the times at which they were appended.
func Records[T any](h *Host, branch string) []journal.Record[T] {
	h.t.Helper()

	var all []journal.Record[T]

	for _, record := range h.records(branch) {
		if !flow.Is[T](record.Entry) {
			continue
		}

		value, err := flow.As[T](record.Entry)
		if err != nil {
			h.t.Fatalf("%v", err)
		}

		all = append(all, journal.Record[T]{Position: record.Position, At: record.At, Entry: value})
	}

	return all
}

// Entries returns the entries of one type in the journal of a branch, oldest first.
func Entries[T any](h *Host, branch string) []T {
	h.t.Helper()

	var all []T
	for _, record := range Records[T](h, branch) {
		all = append(all, record.Entry)
	}

	return all
}

// Golden compares data with the golden file testdata/golden/<name>, or writes the file if -update is set.
func Golden(tb testing.TB, name string, actual []byte) {
	tb.Helper()
	golden.Compare(tb, name, actual)
}
