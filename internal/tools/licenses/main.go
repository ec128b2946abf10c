// Command licenses writes the licences of everything that the program contains: the Go modules that it links on any platform of a release,
// the packages in the dashboard (web/bundled.json, which the dashboard's build writes), and embedded data. It rejects licences that are not
// in the list of allowed ones.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/licenses"
)

const introduction = `TARSy is licensed under the Apache License 2.0; see LICENSE. It contains the software and data of others that are listed
here, each with the numbers of its licences and notices, whose texts follow. This file is generated: make licenses.`

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stderr)) }

func run(ctx context.Context, args []string, problems io.Writer) int {
	flags := flag.NewFlagSet("licenses", flag.ContinueOnError)
	flags.SetOutput(problems)
	root := flags.String("C", ".", "directory of the repository")

	if err := flags.Parse(args); err != nil {
		return 2
	}

	if err := write(ctx, *root); err != nil {
		fmt.Fprintln(problems, "licenses:", err)

		return 1
	}

	return 0
}

func write(ctx context.Context, root string) error {
	parts, err := collect(ctx, root)
	if err != nil {
		return err
	}

	if refused := notAllowed(parts); len(refused) > 0 {
		return fmt.Errorf("not in the list of allowed licences (internal/tools/licenses/classify.go): %s", strings.Join(refused, "; "))
	}

	text, err := licenses.Format(introduction, parts)
	if err != nil {
		return err
	}

	return os.WriteFile(filepath.Join(root, "internal", "licenses", licenses.File), []byte(text), 0o644)
}

// collect finds everything that the program contains.
func collect(ctx context.Context, root string) ([]licenses.Part, error) {
	parts, err := goParts(ctx, root)
	if err != nil {
		return nil, err
	}

	page, err := npmParts(root)
	if err != nil {
		return nil, err
	}

	data, err := dataParts(root)
	if err != nil {
		return nil, err
	}

	return sorted(append(append(parts, page...), data...)), nil
}

func sorted(parts []licenses.Part) []licenses.Part {
	slices.SortFunc(parts, func(a, b licenses.Part) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})

	return parts
}

// notAllowed names the parts with a licence that is not allowed, or without one.
func notAllowed(parts []licenses.Part) []string {
	var refused []string

	for _, p := range parts {
		for id := range strings.SplitSeq(p.License, and) {
			if !slices.Contains(allowed, id) {
				refused = append(refused, fmt.Sprintf("%s %s (%s)", p.Name, p.Version, p.License))

				break
			}
		}
	}

	return refused
}
