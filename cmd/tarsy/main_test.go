package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestBinaryLeavesOutToolsAndTests checks that the binary does not link what only generates data or runs tests.
func TestBinaryLeavesOutToolsAndTests(t *testing.T) {
	t.Parallel()

	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	require.NoError(t, err)

	packages := strings.Fields(string(out))
	require.Contains(t, packages, "tarsy.dev/tarsy/internal/mask/gitleaks", "the rules are part of the binary, as data")

	for _, left := range []string{
		"github.com/spf13/viper", "github.com/spf13/afero", "github.com/rs/zerolog", "github.com/zricethezav/gitleaks", "github.com/tetratelabs/wazero",
		"github.com/wasilibs", "github.com/hashicorp/hcl", "github.com/pelletier/go-toml", "github.com/stretchr/testify",
	} {
		require.False(t, slices.ContainsFunc(packages, func(name string) bool { return name == left || strings.HasPrefix(name, left+"/") }),
			"the binary imports %s: go list -deps ./cmd/tarsy", left)
	}
}
