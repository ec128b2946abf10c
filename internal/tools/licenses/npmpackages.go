package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tarsy.dev/tarsy/internal/licenses"
	"tarsy.dev/tarsy/internal/mask/gitleaks"
)

// bundledPackages returns the packages in the dashboard as name@version.
func bundledPackages(root string) ([]string, error) {
	var names []string

	return names, readJSON(filepath.Join(root, "web", "bundled.json"), &names)
}

// lockedDirectories returns the install directory of each package, by name@version.
func lockedDirectories(root string) (map[string]string, error) {
	var lock struct {
		Packages map[string]struct{ Version string }
	}

	if err := readJSON(filepath.Join(root, "web", "package-lock.json"), &lock); err != nil {
		return nil, err
	}

	directories := map[string]string{}

	for directory, p := range lock.Packages {
		if i := strings.LastIndex(directory, "node_modules/"); i >= 0 {
			directories[directory[i+len("node_modules/"):]+"@"+p.Version] = directory
		}
	}

	return directories, nil
}

// npmParts returns the packages that the dashboard contains parts of.
func npmParts(root string) ([]licenses.Part, error) {
	names, err := bundledPackages(root)
	if err != nil {
		return nil, err
	}

	locked, err := lockedDirectories(root)
	if err != nil {
		return nil, err
	}

	var parts []licenses.Part

	for _, name := range names {
		directory, found := locked[name]
		if !found {
			return nil, fmt.Errorf("web/bundled.json has %s, and web/package-lock.json has not; run make web", name)
		}

		part, err := npmPart(filepath.Join(root, "web", filepath.FromSlash(directory)))
		if err != nil {
			return nil, fmt.Errorf("read the licence of %s: %w", name, err)
		}

		if installed := part.Name + "@" + part.Version; installed != name {
			return nil, fmt.Errorf("web/node_modules has %s, and the page %s; run make web", installed, name)
		}

		parts = append(parts, part)
	}

	return parts, nil
}

// statedMIT is the text for a package that states the MIT licence but has no licence file.
const statedMIT = `The package.json of %s states the license MIT, and its author is %s.

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation
files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy,
modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the
Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`

// npmPart reads an installed package.
func npmPart(directory string) (licenses.Part, error) {
	var p struct {
		Name, Version, License string
		Author                 any
	}

	if err := readJSON(filepath.Join(directory, "package.json"), &p); err != nil {
		return licenses.Part{}, err
	}

	texts, ids, err := read(directory)
	if err != nil {
		return licenses.Part{}, err
	}

	if len(ids) == 0 && p.License == "MIT" && p.Author != nil {
		ids, texts = []string{p.License}, append(texts, fmt.Sprintf(statedMIT, p.Name, author(p.Author)))
	}

	return licenses.Part{Kind: licenses.KindNPM, Name: p.Name, Version: p.Version, License: expression(ids), Texts: texts}, nil
}

func author(value any) string {
	if fields, ok := value.(map[string]any); ok {
		return fmt.Sprint(fields["name"])
	}

	return fmt.Sprint(value)
}

// dataParts returns the embedded third-party data.
func dataParts(root string) ([]licenses.Part, error) {
	rules, err := gitleaks.Load()
	if err != nil {
		return nil, err
	}

	texts, ids, err := read(filepath.Join(root, "internal", "mask", "gitleaks"))
	if err != nil {
		return nil, err
	}

	return []licenses.Part{{
		Kind: licenses.KindData, Name: "gitleaks rules", Version: rules.Version, License: expression(ids), Texts: texts,
	}}, nil
}

func readJSON(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}

	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}

	return nil
}
