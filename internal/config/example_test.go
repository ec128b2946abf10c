package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

// suggestion matches a setting that is commented out: a key after the comment mark, at any indentation.
var suggestion = regexp.MustCompile(`(?m)^( *)# ( *[a-z0-9_.-]+:(?: .*)?)$`)

// The suggestions in the example files must be as valid as their settings.
func TestExampleFileSuggestionsLoad(t *testing.T) {
	t.Parallel()
	dir, found := t.TempDir(), 0
	for _, name := range []string{"tarsy.yaml", "llm-providers.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "config", name+".example"))
		require.NoError(t, err)
		found += len(suggestion.FindAll(text, -1))
		// Skip the first line, which is for editors.
		_, body, _ := strings.Cut(string(text), "\n")
		write(t, dir, name, suggestion.ReplaceAllString(body, "$1$2"))
	}
	c, err := config.Load(config.Source{Path: dir, Env: func(string) (string, bool) { return "set", true }})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
	require.Greater(t, found, 20)

	require.Equal(t, []config.FallbackEntry{{LLMProvider: "claude"}, {LLMProvider: "local"}}, c.FallbackLists[c.Defaults.FallbackList])
	require.Equal(t, "medium", c.LLMProviders["gemini"].ReasoningEffort)
	require.InDelta(t, 50, c.System.Budgets.Daily.MaxCostUSD, 0)
	require.Equal(t, 100, c.System.Budgets.Session.MaxToolCalls)
	require.True(t, c.Prices().Knows("qwen3"))
}
