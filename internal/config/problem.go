package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one fault in what was written, with the place to look at.
type Problem struct {
	File         string // "" when the value did not come from a file
	Line, Column int
	Path         string // for example queue.worker_count
	Message      string
	Hint         string // what would be right
}

// String renders the problem as one line: file:line: path: message (hint).
func (p Problem) String() string {
	text := locate(p.place(), p.Path, p.Message)
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

func (p Problem) place() place { return place{file: p.File, line: p.Line, column: p.Column} }

// Error is every problem of a configuration at once, in the order of the files.
type Error struct {
	Problems []Problem
}

// Error lists the problems, one per line.
func (e *Error) Error() string {
	if len(e.Problems) == 1 {
		return "configuration: " + e.Problems[0].String()
	}
	lines := make([]string, 0, len(e.Problems)+1)
	lines = append(lines, fmt.Sprintf("configuration: %d problems", len(e.Problems)))
	for _, p := range e.Problems {
		lines = append(lines, "  "+p.String())
	}
	return strings.Join(lines, "\n")
}

func newError(problems []Problem) *Error {
	slices.SortStableFunc(problems, func(a, b Problem) int { return comparePlaces(a.place(), b.place()) })
	return &Error{Problems: problems}
}

// Warning is something a person should know although nothing is wrong.
type Warning struct {
	File         string
	Line, Column int
	Path         string
	Message      string
}

// String renders the warning as one line.
func (w Warning) String() string { return locate(w.place(), w.Path, w.Message) }

func (w Warning) place() place { return place{file: w.File, line: w.Line, column: w.Column} }

// place is a position in a file.
type place struct {
	file         string
	line, column int
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

func comparePlaces(a, b place) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
}

func locate(at place, path, message string) string {
	var parts []string
	if at.file != "" {
		parts = append(parts, at.String())
	}
	if path != "" {
		parts = append(parts, path)
	}
	return strings.Join(append(parts, message), ": ")
}
