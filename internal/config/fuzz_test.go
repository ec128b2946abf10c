package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/internal/config"
)

// loadAnything must not panic on any text; if it fails, it must return problems.
func loadAnything(text []byte) error {
	c, err := config.Load(config.Source{
		Files: []config.File{{Name: "any.yaml", Text: text}},
		Env:   func(string) (string, bool) { return "value", true },
	})
	if err != nil {
		var failed *config.Error
		if !errors.As(err, &failed) || len(failed.Problems) == 0 || failed.Error() == "" {
			return errors.New("an error without problems: " + err.Error())
		}
		return nil
	}
	_ = c.Origins()
	return c.Validate()
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"tarsy.yaml", "llm-providers.yaml"} {
		text, err := os.ReadFile(filepath.Join("testdata", "full", name))
		require.NoError(f, err)
		f.Add(text)
	}
	for _, seed := range []string{
		"", "a", "queue:", "queue: {worker_count: {{.X}}}", "a: &a [*a]", "<<: *a", "? a\n: b", "%YAML 1.2\n---\n", "!!map {}", "- - -",
		"agents: {A: &x {<<: *x}}", "{{.A}}: b", "a: |\n  b\n c", "agents:\n  ? |\n    k\n  : {}", "&a : b",
		"*", "&", "a: !", "--- >\n", "{", "}", "'",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := loadAnything(text); err != nil {
			t.Fatal(err)
		}
	})
}

func TestLoadNeverPanics(t *testing.T) {
	t.Parallel()
	words := []string{
		"queue", "agents", "agent_chains", "mcp_servers", "worker_count", "stages", "name", "A", "1", "true", "{{.X}}", ":", ": ", "\n", "\n  ",
		"\n    ", "- ", "{", "}", "[", "]", ",", "&a ", "*a", "<<: ", "? ", "|\n", ">\n", "'", "\"", "#", "!", "!!str ", "---\n",
		"\t", "~", "\xff", "\ue000",
	}
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(rt, "words"), "")
		if err := loadAnything([]byte(text)); err != nil {
			rt.Fatal(err)
		}
	})
	rapid.Check(t, func(rt *rapid.T) {
		if err := loadAnything(rapid.SliceOf(rapid.Byte()).Draw(rt, "bytes")); err != nil {
			rt.Fatal(err)
		}
	})
}
