// Package licenses contains the licences of everything in the program and its embedded dashboard: the Go modules that it links, the
// packages in the page, and third-party data. `make licenses` writes them.
//
// It does not know how they are found; internal/tools/licenses does.
package licenses

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
)

// File is the name of the file in the directory of this package.
const File = "THIRD_PARTY_LICENSES.txt"

//go:embed THIRD_PARTY_LICENSES.txt
var text string

const (
	listBegins = "\n======== Contents\n\n"
	textBegins = "\n======== Text "
)

// columns are separated by two or more spaces; names and licences contain single ones.
var columns = regexp.MustCompile(` {2,}`)

// Kinds of parts.
const (
	KindGo   = "go"   // a Go module that the program links, or the standard library
	KindNPM  = "npm"  // an npm package that the dashboard contains parts of
	KindData = "data" // embedded third-party data
)

// Part is a third-party part of the program.
type Part struct {
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Version string `json:"version"`
	// License is the SPDX identifier, or several joined by AND.
	License string `json:"license"`
	// Texts are the full licences and notices.
	Texts []string `json:"texts,omitempty"`
}

// Text returns the whole file: a list of the parts, and each text once.
func Text() string { return text }

// Parts returns the contents of the program, by kind and name.
func Parts() ([]Part, error) { return Parse(text) }

// Format formats parts as a file for people and for Parse. A text that several parts share is included once.
func Format(introduction string, parts []Part) (string, error) {
	var list, texts strings.Builder

	table, numbers := tabwriter.NewWriter(&list, 0, 0, 2, ' ', 0), map[string]int{}

	for _, p := range parts {
		var own []string

		for _, t := range p.Texts {
			if strings.Contains(t, textBegins) {
				return "", fmt.Errorf("a text of %s contains the line that separates texts", p.Name)
			}

			if numbers[t] == 0 {
				numbers[t] = len(numbers) + 1
				fmt.Fprintf(&texts, "%s%d\n\n%s\n", textBegins, numbers[t], t)
			}

			own = append(own, strconv.Itoa(numbers[t]))
		}

		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", p.Kind, p.Name, p.Version, p.License, strings.Join(own, ", "))
	}

	if err := table.Flush(); err != nil {
		return "", fmt.Errorf("write the list: %w", err)
	}

	return introduction + "\n" + listBegins + list.String() + texts.String(), nil
}

// Parse parses the output of Format.
func Parse(file string) ([]Part, error) {
	_, rest, found := strings.Cut(file, listBegins)
	if !found {
		return nil, fmt.Errorf("%s has no list", File)
	}

	sections := strings.Split(rest, textBegins)

	var parts []Part

	for line := range strings.Lines(sections[0]) {
		fields := columns.Split(strings.TrimSpace(line), -1)
		if len(fields) != 5 {
			return nil, fmt.Errorf("%s has a line without name, version, licence or text: %q", File, line)
		}

		p := Part{Kind: fields[0], Name: fields[1], Version: fields[2], License: fields[3]}

		for field := range strings.SplitSeq(fields[4], ", ") {
			number, err := strconv.Atoi(field)
			if err != nil || number < 1 || number >= len(sections) {
				return nil, fmt.Errorf("%s has no text %q, which %s needs", File, field, p.Name)
			}

			_, body, _ := strings.Cut(sections[number], "\n\n")
			p.Texts = append(p.Texts, strings.TrimSuffix(body, "\n"))
		}

		parts = append(parts, p)
	}

	return parts, nil
}
