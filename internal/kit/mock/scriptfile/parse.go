package scriptfile

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/schema"
)

// Problem is an error in a file, with its position.
type Problem = schema.Problem

// FileError is the error of an invalid file: all its problems, in file order.
type FileError struct {
	Problems []Problem
}

// Error lists the problems, one per line.
func (e *FileError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, problem := range e.Problems {
		lines[i] = line(problem)
	}

	return strings.Join(lines, "\n")
}

// line formats a problem like compilers and editors do: file:line:column: path: what is wrong; what would be right.
func line(p Problem) string {
	var text strings.Builder

	text.WriteString(p.File)

	if p.Line > 0 {
		fmt.Fprintf(&text, ":%d:%d", p.Line, p.Column)
	}

	if p.Path != "" {
		text.WriteString(": " + p.Path)
	}

	text.WriteString(": " + p.Message)

	if p.Hint != "" {
		text.WriteString("; " + p.Hint)
	}

	return text.String()
}

// stamp identifies a version of a file.
type stamp struct {
	path     string
	modified time.Time
	size     int64
}

// Load reads a file. If the file is invalid, the error is a *FileError.
func Load(path string) (*File, error) {
	// Take the stamp before reading, so that Watch notices a change in between.
	at, err := stampOf(path)
	if err != nil {
		return nil, err
	}

	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a script: %w", err)
	}

	file, err := Parse(filepath.Base(path), text)
	if err != nil {
		return nil, err
	}

	file.stamp = at

	return file, nil
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, fmt.Errorf("find a script: %w", err)
	}

	return stamp{path: path, modified: info.ModTime(), size: info.Size()}, nil
}

// Parse parses the content of a file; problems are reported for name.
func Parse(name string, data []byte) (*File, error) {
	file := &File{}
	schema.ApplyDefaults(reflect.ValueOf(file).Elem())

	decoder := schema.NewDecoder(nil)
	decoder.RefuseNull = true
	decoder.File(name, data, file)

	problems := decoder.Problems
	if !decoder.Broken {
		c := checker{name: name, file: file, marks: decoder.Marks, problems: problems}
		problems = c.check()
	}

	if len(problems) > 0 {
		schema.SortProblems(problems)

		return nil, &FileError{Problems: problems}
	}

	return file, nil
}
