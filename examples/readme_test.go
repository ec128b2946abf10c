package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReadmesContainProgramsVerbatim checks that the README of a program contains its configure function and its diagram verbatim.
func TestReadmesContainProgramsVerbatim(t *testing.T) {
	t.Parallel()

	for _, program := range programs() {
		t.Run(program.name, func(t *testing.T) {
			t.Parallel()

			readme := read(t, program.name, "README.md")
			picture := read(t, program.name, "testdata", "golden", "flow.mmd")
			require.Contains(t, readme, "```mermaid\n"+picture+"```\n")

			_, declaration, found := strings.Cut(read(t, program.name, "main.go"), "\nfunc configure(")
			require.True(t, found)

			declaration, _, found = strings.Cut(declaration, "\n}\n")
			require.True(t, found)
			require.Contains(t, readme, "func configure("+declaration+"\n}\n")
			require.Contains(t, readme, "$ go run ./examples/"+program.name+"\n")
		})
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()

	data, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)

	return string(data)
}
