package scriptfile_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
)

var update = flag.Bool("update", false, "rewrite golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, path, got string) {
	t.Helper()

	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s is not up to date; run go test ./internal/kit/mock/scriptfile -update", filepath.Base(path))
}

func TestEveryProblemIsReportedWithItsPlace(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile(filepath.Join("testdata", "wrong.yaml"))
	require.NoError(t, err)

	_, err = scriptfile.Parse("wrong.yaml", text)

	var failed *scriptfile.FileError

	require.ErrorAs(t, err, &failed)
	golden(t, filepath.Join("testdata", "wrong.problems"), err.Error()+"\n")

	for _, p := range failed.Problems {
		require.Positive(t, p.Line, p.Path)
		require.Positive(t, p.Column, p.Path)
	}
}

func TestProblemNamesPlaceAndExpectedValue(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ text, want string }{
		"unknown key":             {"version: 1\nrouts: []\n", "s.yaml:2:1: routs: unknown key; did you mean routes?"},
		"no version":              {"replies: [text: a]\n", "s.yaml: version: is required; The version of this format: 1"},
		"another version":         {"version: 2\n", "s.yaml:1:1: version: must be at most 1"},
		"empty":                   {"", "s.yaml: version: is required; The version of this format: 1"},
		"no YAML":                 {"version: 1\nreplies: [", "s.yaml:2:10: not valid YAML: sequence end token ']' not found"},
		"nothing":                 {"version: 1\nroutes:\n", "s.yaml:2:1: routes: has no value; leave the key out"},
		"duplicate":               {"version: 1\nversion: 1\n", "s.yaml:2:1: version: duplicate key; first set at s.yaml:1"},
		"variables are only text": {"version: 1\nprofile: {ttft: '{{.X}}'}\n", `s.yaml:2:17: profile.ttft: expected a duration such as "90s", "40m" or "1h30m"`},
		"MCP servers too": {
			"version: 1\nmcp_servers: {k: {tols: []}}\n", "s.yaml:2:19: mcp_servers.k.tols: unknown key; did you mean tools?",
		},
		"MCP servers' own checks": {
			"version: 1\nmcp_servers:\n  k:\n    tools:\n      - {name: get, results: [{text: a, error: b}]}\n",
			"s.yaml:5:31: mcp_servers.k.tools[0].results[0]: a result has one of text, json, error and fault, not 2 of them",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := scriptfile.Parse("s.yaml", []byte(test.text))
			require.EqualError(t, err, test.want)
		})
	}
}

func TestParsingNeverPanicsAndAcceptedScriptsPlay(t *testing.T) {
	t.Parallel()

	words := []string{
		"version: 1\n", "replies:", "routes:", "- ", "text: ", "a", "when: ", "user: ", "{", "}", "[", "]", ",", ": ", "\n", "\n  ", "\n    ", "matches: ",
		"(", "chunks: ", "tool_calls: ", "arguments: ", "times: ", "forever", "-1", "&a ", "*a", "<<: ", "error: ", "~", "\x00", "\xff", "fault: ", "gate: ",
	}

	rapid.Check(t, func(t *rapid.T) {
		text := "version: 1\n" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 30).Draw(t, "words"), "")

		file, err := scriptfile.Parse("any.yaml", []byte(text))
		if err == nil {
			file.Script(nil)
		}
	})
}

// examples returns the YAML blocks of the documentation.
func examples(t *testing.T) []string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "scripts.md"))
	require.NoError(t, err)

	var found []string
	for _, match := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		found = append(found, match[1])
	}

	return found
}

func TestDocumentedExamplesAreValid(t *testing.T) {
	t.Parallel()

	all := examples(t)
	require.GreaterOrEqual(t, len(all), 5)

	for _, text := range all {
		_, err := scriptfile.Parse("scripts.md", []byte(text))
		require.NoError(t, err, text)
		require.NoError(t, validate(t, text), text)
	}
}
