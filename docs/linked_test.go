package docs_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const linkedFile = "linked.txt"

// TestPackagesThatTheProgramLinksAreListed checks linked.txt, which lists the linked packages outside this module and the
// standard library, so that a review shows what a change pulls in. The list is for Linux on amd64, wherever the test runs.
func TestPackagesThatTheProgramLinksAreListed(t *testing.T) {
	t.Parallel()

	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", "./cmd/tarsy")
	list.Dir = ".."
	list.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")

	out, err := list.Output()
	require.NoError(t, err)

	names := slices.DeleteFunc(strings.Fields(string(out)), func(name string) bool { return name == module || strings.HasPrefix(name, module+"/") })
	slices.Sort(names)

	text := strings.Join(names, "\n") + "\n"
	require.Contains(t, text, "github.com/jackc/pgx/v5\n")

	if *update {
		require.NoError(t, os.WriteFile(linkedFile, []byte(text), 0o600))
	}

	written, err := os.ReadFile(linkedFile)
	require.NoError(t, err)
	require.Equal(t, string(written), text, "docs/%s is not up to date; run go test ./docs -update, and say in the commit why the program needs what is new", linkedFile)
}
