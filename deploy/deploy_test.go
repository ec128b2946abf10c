// Package deploy_test checks the files of installations that need no other module; internal/tools/deploycheck has the rest.
package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func read(t *testing.T, path string) string {
	t.Helper()

	raw, err := os.ReadFile(path)
	require.NoError(t, err)

	return string(raw)
}

// analyze runs systemd-analyze on the unit, with a program that exists in place of the server.
func analyze(t *testing.T, arguments ...string) (string, error) {
	t.Helper()

	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("the unit is not checked: systemd-analyze is not installed")
	}

	self, err := os.Executable()
	require.NoError(t, err)

	unit := strings.ReplaceAll(read(t, "systemd/tarsy.service"), "/usr/local/bin/tarsy", self)
	path := filepath.Join(t.TempDir(), "tarsy.service")
	require.NoError(t, os.WriteFile(path, []byte(unit), 0o600))

	out, err := exec.CommandContext(t.Context(), program, append(arguments, path)...).CombinedOutput()

	return string(out), err
}

func TestSystemdUnitIsValid(t *testing.T) {
	t.Parallel()

	out, err := analyze(t, "verify", "--man=no")
	require.NoError(t, err, out)
	require.NotContains(t, out, "tarsy.service:", "no warnings: a misspelt setting is only one")
}

func TestSystemdUnitIsHardened(t *testing.T) {
	t.Parallel()

	// Of 100; a unit without settings has 96.
	out, err := analyze(t, "security", "--offline=true", "--threshold=20")
	if err != nil && strings.Contains(out, "unrecognized option") {
		t.Skip("the hardening of the unit is not measured: systemd-analyze is older than 250")
	}

	require.NoError(t, err, out)
	require.Contains(t, out, "Overall exposure level")
}

// What the files set exists: a variable of the server, or one that the configuration or another program reads.
func TestVariablesOfInstallationsExist(t *testing.T) {
	t.Parallel()

	reference, named := read(t, "../docs/cli.md"), regexp.MustCompile(`\bTARSY_[A-Z_]+`)

	for _, path := range []string{"compose/compose.yaml", "systemd/tarsy.service", "../Dockerfile"} {
		found := named.FindAllString(read(t, path), -1)
		require.NotEmpty(t, found, path)

		for _, name := range found {
			if name != "TARSY_DATABASE_PASSWORD" { // of the compose file alone
				require.Contains(t, reference, "`"+name+"`", path)
			}
		}
	}
}

func TestComposeConfigurationLoadsWithoutWarnings(t *testing.T) {
	t.Parallel()

	cfg, err := config.Load(config.Source{Path: "compose/config"})
	require.NoError(t, err)
	require.Empty(t, cfg.Warnings)
	require.Equal(t, config.TransportHTTP, cfg.MCPServers["kubernetes-server"].Transport.Type, "the image has no npx")
}

// A tracked file that the build does not see would make the version that Go takes from Git a modified one.
func TestDockerIgnoreHidesNoTrackedFile(t *testing.T) {
	t.Parallel()

	var hidden, shown []string

	for line := range strings.Lines(read(t, "../.dockerignore")) {
		switch pattern := strings.TrimSpace(line); {
		case pattern == "" || pattern[0] == '#':
		case pattern[0] == '!':
			shown = append(shown, pattern[1:])
		default:
			hidden = append(hidden, pattern)
		}
	}

	require.Contains(t, hidden, "deploy/compose/tarsy.env", "it has keys")

	command := exec.CommandContext(t.Context(), "git", append([]string{"ls-files", "--"}, hidden...)...)
	command.Dir = ".."

	out, err := command.Output()
	if err != nil {
		t.Skipf("not compared with Git: %v", err)
	}

	tracked := slices.DeleteFunc(strings.Fields(string(out)), func(path string) bool { return slices.Contains(shown, path) })
	require.Empty(t, tracked)
}
