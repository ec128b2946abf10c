// Command weigh prints how much there is to read and to ship: lines by package, methods by type, what the program links and how large it
// is, next to the figures of the last release in docs/weigh.txt. With -update it writes the current figures there.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

const released = "docs/weigh.txt"

// kit lists the directories of the test kit and of what only tests and examples use. Everything else is the product.
var kit = []string{"internal/kit", "internal/tools", "llm/llmtest", "tarsytest", "examples", "e2e", "bench", "flow/flowtest"}

// figure is one line of the table.
type figure struct {
	name  string
	value int
}

func main() {
	update := flag.Bool("update", false, "write the figures to "+released)
	flag.Parse()

	figures, err := weigh()
	if err == nil && *update {
		err = write(figures)
	} else if err == nil {
		err = show(figures)
	}

	if err != nil {
		fmt.Fprintln(os.Stderr, "weigh:", err)
		os.Exit(1)
	}
}

func weigh() ([]figure, error) {
	lines, methods, err := read()
	if err != nil {
		return nil, err
	}

	var figures []figure

	total := map[bool]int{}
	for dir, n := range lines {
		total[isKit(dir)] += n
	}

	figures = append(figures, figure{"lines of the product", total[false]}, figure{"lines of the test kit", total[true]})

	product := map[string]int{}
	for dir, n := range lines {
		if !isKit(dir) {
			product[dir] = n
		}
	}

	figures = append(figures, figure{"packages of the product", len(product)})
	figures = append(figures, largest("lines of ", product)...)
	figures = append(figures, largest("methods of ", methods)...)

	linked, err := exec.CommandContext(context.Background(), "go", "list", "-deps", "./cmd/tarsy").Output()
	if err != nil {
		return nil, fmt.Errorf("list what the program links: %w", err)
	}

	figures = append(figures, figure{"packages that the program links", bytes.Count(linked, []byte("\n"))})

	if info, err := os.Stat("bin/tarsy"); err == nil {
		figures = append(figures, figure{"kB of bin/tarsy", int(info.Size() >> 10)})
	}

	return figures, nil
}

// read counts the lines of each package and the methods of each type, without tests.
func read() (lines, methods map[string]int, err error) {
	lines, methods = map[string]int{}, map[string]int{}

	return lines, methods, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "testdata" || entry.Name() == "web" || len(path) > 1 && strings.HasPrefix(entry.Name(), ".")):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}

		text, err := os.ReadFile(path) //nolint:gosec // of the working tree
		if err != nil {
			return err
		}

		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}

		dir := filepath.ToSlash(filepath.Dir(path))
		lines[dir] += bytes.Count(text, []byte("\n"))

		for _, declaration := range file.Decls {
			if f, ok := declaration.(*ast.FuncDecl); ok && f.Recv != nil && !isKit(dir) {
				methods[dir+"."+receiver(f.Recv.List[0].Type)]++
			}
		}

		return nil
	})
}

func isKit(dir string) bool {
	return slices.ContainsFunc(kit, func(k string) bool { return dir == k || strings.HasPrefix(dir, k+"/") })
}

// receiver returns the name of the type that a method belongs to.
func receiver(of ast.Expr) string {
	switch t := of.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	default:
		return "?"
	}
}

// largest returns the ten largest values.
func largest(prefix string, values map[string]int) []figure {
	const most = 10

	var all []figure
	for name, value := range values {
		all = append(all, figure{prefix + name, value})
	}

	slices.SortFunc(all, func(a, b figure) int { return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.name, b.name)) })

	return all[:min(most, len(all))]
}

func write(figures []figure) error {
	var text strings.Builder
	for _, f := range figures {
		fmt.Fprintf(&text, "%d %s\n", f.value, f.name)
	}

	return os.WriteFile(released, []byte(text.String()), 0o600)
}

func show(figures []figure) error {
	file, err := os.Open(released)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it is only read

	before := map[string]int{}

	for lines := bufio.NewScanner(file); lines.Scan(); {
		value, name, _ := strings.Cut(lines.Text(), " ")
		if before[name], err = strconv.Atoi(value); err != nil {
			return fmt.Errorf("read %s: %w", released, err)
		}
	}

	fmt.Fprintf(os.Stdout, "%9s %9s\n", "released", "now")

	for _, f := range figures {
		was := "-"
		if value, ok := before[f.name]; ok {
			was = strconv.Itoa(value)
		}

		fmt.Fprintf(os.Stdout, "%9s %9d  %s\n", was, f.value, f.name)
	}

	return nil
}
