package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/licenses"
)

// standardLibrary is listed like a module. Its version is that of the toolchain that built the program, which tarsy version prints.
const standardLibrary = "Go standard library"

// platforms are the platforms in .goreleaser.yaml.
var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// goModule is a module with the directories of its linked packages.
type goModule struct {
	path, version, directory string
	packages                 []string
}

// goModules returns the modules that the program links on any platform, by path.
func goModules(ctx context.Context, root string) ([]*goModule, error) {
	modules := map[string]*goModule{}

	for _, platform := range platforms {
		list := exec.CommandContext(ctx, "go", "list", "-deps", "-json=Dir,Module", "./cmd/tarsy")
		list.Dir = root
		list.Env = append(os.Environ(), "GOOS="+platform[0], "GOARCH="+platform[1], "CGO_ENABLED=0")

		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", strings.Join(platform[:], "/"), err)
		}

		if err := addPackages(modules, string(out)); err != nil {
			return nil, err
		}
	}

	var found []*goModule
	for _, m := range modules {
		found = append(found, m)
	}

	slices.SortFunc(found, func(a, b *goModule) int { return strings.Compare(a.path, b.path) })

	return found, nil
}

// addPackages reads the output of go list.
func addPackages(modules map[string]*goModule, out string) error {
	for decoder := json.NewDecoder(strings.NewReader(out)); ; {
		var p struct {
			Dir    string `json:"Dir"`
			Module *struct {
				Path    string `json:"Path"`
				Version string `json:"Version"`
				Dir     string `json:"Dir"`
				Main    bool   `json:"Main"`
				Replace *struct {
					Path string `json:"Path"`
				} `json:"Replace"`
			} `json:"Module"`
		}

		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read the answer of go list: %w", err)
		}

		if p.Module == nil || p.Module.Main {
			continue
		}

		if p.Module.Replace != nil {
			return fmt.Errorf("%s is replaced by %s, which this program does not handle", p.Module.Path, p.Module.Replace.Path)
		}

		m := modules[p.Module.Path]
		if m == nil {
			m = &goModule{path: p.Module.Path, version: p.Module.Version, directory: p.Module.Dir}
			modules[m.path] = m
		}

		if !slices.Contains(m.packages, p.Dir) {
			m.packages = append(m.packages, p.Dir)
		}
	}
}

// goParts returns the standard library and the modules that the program links.
func goParts(ctx context.Context, root string) ([]licenses.Part, error) {
	modules, err := goModules(ctx, root)
	if err != nil {
		return nil, err
	}

	library, err := libraryPart(ctx, root)
	if err != nil {
		return nil, err
	}

	parts := []licenses.Part{library}

	for _, m := range modules {
		part := licenses.Part{Kind: licenses.KindGo, Name: m.path, Version: m.version}

		var ids []string

		for _, directory := range m.directories() {
			texts, found, err := read(directory)
			if err != nil {
				return nil, fmt.Errorf("read the licences of %s: %w", m.path, err)
			}

			ids = append(ids, found...)

			for _, text := range texts {
				if !slices.Contains(part.Texts, text) {
					part.Texts = append(part.Texts, text)
				}
			}
		}

		part.License = expression(ids)
		parts = append(parts, part)
	}

	return parts, nil
}

// directories returns the root of the module and all directories between it and its linked packages: copied code has
// its licence next to it.
func (m *goModule) directories() []string {
	found := []string{m.directory}

	for _, directory := range m.packages {
		for ; len(directory) > len(m.directory); directory = filepath.Dir(directory) {
			if !slices.Contains(found, directory) {
				found = append(found, directory)
			}
		}
	}

	slices.Sort(found)

	return found
}

func libraryPart(ctx context.Context, root string) (licenses.Part, error) {
	command := exec.CommandContext(ctx, "go", "env", "GOROOT")
	command.Dir = root

	out, err := command.Output()
	if err != nil {
		return licenses.Part{}, fmt.Errorf("find the standard library: %w", err)
	}

	texts, ids, err := read(strings.TrimSpace(string(out)))
	if err != nil {
		return licenses.Part{}, fmt.Errorf("read the licence of the standard library: %w", err)
	}

	return licenses.Part{Kind: licenses.KindGo, Name: standardLibrary, Version: "-", License: expression(ids), Texts: texts}, nil
}
