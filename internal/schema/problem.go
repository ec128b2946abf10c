package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one problem in a file, with its place.
type Problem struct {
	File         string // "" if the value did not come from a file
	Line, Column int
	Path         string // for example, queue.worker_count
	Message      string
	Hint         string // what would be correct
}

// String renders the problem as one line: file:line: path: message (hint).
func (p Problem) String() string {
	text := locate(p.Place(), p.Path, p.Message)
	if p.Hint != "" {
		text += " (" + p.Hint + ")"
	}
	return text
}

// Place returns the position of the problem.
func (p Problem) Place() Place { return Place{File: p.File, Line: p.Line, Column: p.Column} }

// SortProblems sorts problems by file and position.
func SortProblems(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int { return comparePlaces(a.Place(), b.Place()) })
}

// Warning is something that people should know although it is not an error.
type Warning struct {
	File         string
	Line, Column int
	Path         string
	Message      string
}

// String renders the warning as one line.
func (w Warning) String() string { return locate(w.Place(), w.Path, w.Message) }

// Place returns the position of the warning.
func (w Warning) Place() Place { return Place{File: w.File, Line: w.Line, Column: w.Column} }

// SortWarnings sorts warnings by file and position.
func SortWarnings(warnings []Warning) {
	slices.SortStableFunc(warnings, func(a, b Warning) int { return comparePlaces(a.Place(), b.Place()) })
}

// Place is a position in a file; the zero value means none.
type Place struct {
	File         string
	Line, Column int
}

// String returns file:line.
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
