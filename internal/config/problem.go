package config

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/schema"
)

// Problem is one error in the configuration, with its place.
type Problem = schema.Problem

// Warning is something a person should know although the configuration is valid.
type Warning = schema.Warning

// Error contains all problems of a configuration, in the order of the files.
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
	schema.SortProblems(problems)
	return &Error{Problems: problems}
}
