package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// goPackage is the output of go list for a package.
type goPackage struct {
	ImportPath      string   `json:"ImportPath"`
	Dir             string   `json:"Dir"`
	Imports         []string `json:"Imports"`
	TestImports     []string `json:"TestImports"`
	XTestImports    []string `json:"XTestImports"`
	EmbedFiles      []string `json:"EmbedFiles"`
	TestEmbedFiles  []string `json:"TestEmbedFiles"`
	XTestEmbedFiles []string `json:"XTestEmbedFiles"`
	TestGoFiles     []string `json:"TestGoFiles"`
	XTestGoFiles    []string `json:"XTestGoFiles"`
}

// listedFields are the fields of goPackage: go list is faster without the others.
const listedFields = "ImportPath,Dir,Imports,TestImports,XTestImports,EmbedFiles,TestEmbedFiles,XTestEmbedFiles,TestGoFiles,XTestGoFiles"

func (p goPackage) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// module maps directories to the packages of a module, relative to its root and with slashes; the root is ".".
type module map[string]goPackage

// parseModule reads the output of go list -json.
func parseModule(root string, output io.Reader) (module, error) {
	m := module{}

	for decoder := json.NewDecoder(output); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return m, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the packages: %w", err)
		}

		directory, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}

		m[filepath.ToSlash(directory)] = p
	}
}

// changed returns the packages with a changed file, by directory. The value is whether packages that import it are affected too. A file
// that belongs to no package, such as a document or the Makefile, is read by the tests of docs.
func (m module) changed(files []string) map[string]bool {
	changed := map[string]bool{}

	for _, file := range files {
		directory, name := path.Dir(file), path.Base(file)

		switch {
		case file == "go.mod" || file == "go.sum":
			for every := range m {
				changed[every] = true
			}
		case strings.HasSuffix(name, ".go") && !isTestdata(file):
			if _, exists := m[directory]; exists {
				changed[directory] = changed[directory] || !strings.HasSuffix(name, "_test.go")
			}
		case inDashboard(file):
			// Go embeds only what is built from it.
		default:
			owner, embedded := m.owner(file)
			if _, exists := m[owner]; exists {
				changed[owner] = changed[owner] || embedded
			}
		}
	}

	return changed
}

// owner returns the package that a file other than Go code belongs to, and whether the package embeds it.
func (m module) owner(file string) (directory string, embedded bool) {
	for directory = path.Dir(file); ; directory = path.Dir(directory) {
		p, exists := m[directory]
		if exists && slices.Contains(p.EmbedFiles, strings.TrimPrefix(file, directory+"/")) {
			return directory, true
		}

		if directory == "." {
			return "docs", false
		}

		if exists {
			return directory, false
		}
	}
}

func isTestdata(file string) bool { return slices.Contains(strings.Split(file, "/"), "testdata") }

// inDashboard reports whether a file is a source of the dashboard, which Go tests do not read.
func inDashboard(file string) bool {
	return strings.HasPrefix(file, "web/src/") || strings.HasPrefix(file, "web/test/")
}

// affected returns the packages whose tests a change affects, by directory, with their distance from it: 0 for a changed package, 1 for one
// that imports it, and so on. Packages without tests are omitted.
func (m module) affected(changed map[string]bool) map[string]int {
	importers, testers := map[string][]string{}, map[string][]string{}

	for directory, p := range m {
		for _, imported := range p.Imports {
			importers[imported] = append(importers[imported], directory)
		}

		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			testers[imported] = append(testers[imported], directory)
		}
	}

	distance := map[string]int{}  // of packages whose tests are affected
	reaching := map[string]bool{} // packages whose importers are affected too

	var queue []reached // nearest first

	for directory, exported := range changed {
		distance[directory] = 0

		if exported {
			reaching[directory] = true
			queue = append(queue, reached{directory, 0})
		}
	}

	affect := func(directory string, d int) {
		if known, seen := distance[directory]; !seen || d < known {
			distance[directory] = d
		}
	}

	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]

		for _, importer := range importers[m[from.directory].ImportPath] {
			affect(importer, from.distance+1)

			if !reaching[importer] {
				reaching[importer] = true
				queue = append(queue, reached{importer, from.distance + 1})
			}
		}

		for _, tester := range testers[m[from.directory].ImportPath] {
			affect(tester, from.distance+1) // importers of tester do not see its tests
		}
	}

	for directory := range distance {
		if !m[directory].hasTests() {
			delete(distance, directory)
		}
	}

	return distance
}

// reached is an affected package with its distance.
type reached struct {
	directory string
	distance  int
}
