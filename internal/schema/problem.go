package schema

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
	text := locate(p.Place(), p.Path, p.Message)
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Place is where to look.
func (p Problem) Place() Place { return Place{File: p.File, Line: p.Line, Column: p.Column} }

// SortProblems puts problems in the order of the files.
func SortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int { return comparePlaces(a.Place(), b.Place()) })
}

// Warning is something a person should know although nothing is wrong.
type Warning struct {
	File         string
	Line, Column int
	Path         string
	Message      string
}

// String renders the warning as one line.
func (w Warning) String() string { return locate(w.Place(), w.Path, w.Message) }

// Place is where to look.
func (w Warning) Place() Place { return Place{File: w.File, Line: w.Line, Column: w.Column} }

// SortWarnings puts warnings in the order of the files.
func SortWarnings(warnings []Warning) {
	slices.SortStableFunc(warnings, func(a, b Warning) int { return comparePlaces(a.Place(), b.Place()) })
}

// Place is a position in a file; the zero value is none.
type Place struct {
	File         string
	Line, Column int
}

// String is file:line.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

func locate(at Place, path, message string) string {
	var parts []string
	if at.File != "" {
		parts = append(parts, at.String())
	}
	if path != "" {
		parts = append(parts, path)
	}
	return strings.Join(append(parts, message), ": ")
}
