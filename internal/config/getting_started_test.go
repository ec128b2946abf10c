package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	require.NoError(t, err)
	return string(text)
}

// The chain of docs/getting-started.md is in a file next to the one that tarsy init writes.
func TestGettingStartedChainLoadsWithInitFile(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```yaml\n(agents:.*?)```").FindAllStringSubmatch(read(t, "docs", "getting-started.md"), -1)
	require.Len(t, blocks, 1)

	c, err := config.Load(config.Source{Files: []config.File{
		{Name: "tarsy.yaml", Text: []byte(read(t, "internal", "cli", "testdata", "init.yaml.golden"))},
		{Name: "payments.yaml", Text: []byte(blocks[0][1])},
	}})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
	require.Empty(t, c.Notes())
	require.Equal(t, "payments", c.Alerts.Routes[0].Chain)
	require.Contains(t, c.Alerts.Receivers, "main")
	require.Len(t, c.Chains["payments"].Stages[0].Agents, 2)
}

func TestClusterRoleOfTheGuideOnlyReadsAndNoSecrets(t *testing.T) {
	t.Parallel()
	rules := 0
	for text := range strings.SplitSeq(read(t, "deploy", "kubernetes", "rbac.yaml"), "\n---\n") {
		var object struct {
			Kind  string
			Rules []struct {
				APIGroups []string `yaml:"apiGroups"`
				Resources []string
				Verbs     []string
			}
		}
		require.NoError(t, yaml.Unmarshal([]byte(text), &object))
		for _, r := range object.Rules {
			rules++
			require.Subset(t, []string{"get", "list", "watch"}, r.Verbs, r)
			require.False(t, slices.ContainsFunc(r.Resources, func(resource string) bool {
				return resource == "*" || resource == "secrets" || strings.HasSuffix(resource, "/proxy") || strings.HasSuffix(resource, "/exec")
			}), r)
			require.NotContains(t, r.APIGroups, "*")
		}
	}
	require.Greater(t, rules, 5)
}
