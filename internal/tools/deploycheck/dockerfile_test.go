package deploycheck_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/stretchr/testify/require"
)

const (
	// root is the root directory of the repository.
	root = "../../.."
	// licences is the file with the licences of everything that the binary contains.
	licences = "THIRD_PARTY_LICENSES.txt"
)

func dockerfile(t *testing.T) []instructions.Stage {
	t.Helper()

	file, err := os.Open(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	defer file.Close()

	parsed, err := parser.Parse(file)
	require.NoError(t, err)
	require.Empty(t, parsed.Warnings)

	stages, _, err := instructions.Parse(parsed.AST, nil)
	require.NoError(t, err)

	return stages
}

func commandsOf[C instructions.Command](stage instructions.Stage) []C {
	var found []C

	for _, command := range stage.Commands {
		if c, ok := command.(C); ok {
			found = append(found, c)
		}
	}

	return found
}

func TestDockerfileEndsWithBinaryAndLicencesAsNonroot(t *testing.T) {
	t.Parallel()

	stages := dockerfile(t)
	last := stages[len(stages)-1]
	require.Regexp(t, `/distroless/static-\w+:nonroot$`, last.BaseName)
	require.Empty(t, commandsOf[*instructions.RunCommand](last), "the image has no shell")

	copies := commandsOf[*instructions.CopyCommand](last)
	require.Len(t, copies, 2)
	require.Equal(t, "build", copies[0].From)
	require.Equal(t, "build", copies[1].From)
	require.Equal(t, []string{"/src/LICENSE", "/src/internal/licenses/" + licences}, copies[1].SourcePaths)
	require.Equal(t, "/usr/share/doc/tarsy/", copies[1].DestPath)

	user := commandsOf[*instructions.UserCommand](last)
	require.Len(t, user, 1)
	require.Regexp(t, `^[1-9]\d*:[1-9]\d*$`, user[0].User, "numeric, for runAsNonRoot")

	entry, health := commandsOf[*instructions.EntrypointCommand](last), commandsOf[*instructions.HealthCheckCommand](last)
	require.False(t, entry[0].PrependShell)
	require.Equal(t, copies[0].DestPath, entry[0].CmdLine[0])
	require.Equal(t, []string{"CMD", copies[0].DestPath, "smoke", "--ready"}, health[0].Health.Test)
}

func TestDockerfileBuildsStaticallyFromPinnedToolchains(t *testing.T) {
	t.Parallel()

	stages := dockerfile(t)

	for _, stage := range stages {
		require.Regexp(t, `:[\w.-]+$`, stage.BaseName, "a tag")
		require.NotRegexp(t, `:latest$`, stage.BaseName)
	}

	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)

	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindSubmatch(mod)
	at := slices.IndexFunc(stages, func(s instructions.Stage) bool { return s.Name == "build" })
	require.True(t, strings.HasPrefix(stages[at].BaseName, "golang:"+string(version[1])), stages[at].BaseName)

	runs := commandsOf[*instructions.RunCommand](stages[at])
	require.Contains(t, runs[len(runs)-1].CmdLine[0], "CGO_ENABLED=0 ")

	for _, stage := range stages {
		for _, copied := range commandsOf[*instructions.CopyCommand](stage) {
			if copied.From != "" {
				continue
			}

			for _, source := range copied.SourcePaths {
				_, err := os.Stat(filepath.Join(root, source))
				require.NoError(t, err)
			}
		}
	}
}
