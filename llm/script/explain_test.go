package script_test

import (
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()

	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}

	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "%s is not up to date; run go test ./llm/script -update", name)
}

func TestUnmatchedCallIsExplained(t *testing.T) {
	t.Parallel()

	on := func(t *testing.T, s *script.Script, match script.Match, replies ...script.Reply) {
		t.Helper()
		require.NoError(t, s.On(match, replies...))
	}

	for name, test := range map[string]struct {
		script func(t *testing.T, s *script.Script)
		in     script.Incoming
	}{
		"an_empty_script": {func(*testing.T, *script.Script) {}, script.Incoming{Request: &llm.Request{}}},
		"the_nearest_first": {func(t *testing.T, s *script.Script) {
			t.Helper()
			on(t, s, script.Match{Agent: "Chat"}, script.Reply{Text: "far"})
			on(t, s, script.Match{Agent: "Investigator", User: script.Text{Contains: "disk"}}, script.Reply{Text: "near"})
			on(t, s, script.Match{Agent: "Investigator", Purpose: "iteration", Turn: new(0)}, script.Reply{Text: "nearer"})
			on(t, s, script.Match{Name: "the last", Turn: new(2), ToolResult: script.Text{Matches: "(?i)disk|cpu"}}, script.Reply{Hang: true})
			on(t, s, script.Match{Header: map[string]script.Text{"x-team": {Equals: "red"}}}, script.Reply{Times: 2})
			on(t, s, script.Match{Header: map[string]script.Text{"x-other": {Contains: "a"}}}, script.Reply{Times: -1})
			on(t, s, script.Match{System: script.Text{Equals: "Be rude."}, Model: script.Text{Contains: "gpt", Matches: "4$"}}, script.Reply{})
			s.RouteFunc(func(*llm.Request) bool { return false }, nil)
		}, script.Incoming{Request: conversation(), Header: http.Header{"X-Team": {"blue"}}}},
		"used_up": {func(t *testing.T, s *script.Script) {
			t.Helper()
			s.Add(script.Reply{Text: "one"})
			on(t, s, script.Match{Agent: "Investigator"}, script.Reply{Text: "two", Times: 2})
			on(t, s, script.Match{Agent: "Other"})

			for range 3 {
				_, err := ask(t, s, conversation())
				require.NoError(t, err)
			}
		}, script.Incoming{Request: conversation()}},
		"secrets_stay_secret": {func(t *testing.T, s *script.Script) {
			t.Helper()
			on(t, s, script.Match{Header: map[string]script.Text{"authorization": {Contains: "one key"}}}, script.Reply{})
		}, script.Incoming{Request: &llm.Request{}, Header: http.Header{"Authorization": {"Bearer sk-secret"}}}},
		"hostile_text_is_short_and_on_one_line": {func(t *testing.T, s *script.Script) {
			t.Helper()
			on(t, s, script.Match{User: script.Text{Contains: strings.Repeat("no\n", 1000)}}, script.Reply{Text: strings.Repeat("x\n", 1000)})

			for range 30 {
				on(t, s, script.Match{Name: "many", Turn: new(5)}, script.Reply{})
			}
		}, script.Incoming{Request: &llm.Request{
			Messages: []llm.Message{{Role: llm.RoleUser, Content: "\x00\xff\n\x1b[31m" + strings.Repeat("y\n", 1000)}},
			Tools:    make([]llm.Tool, 30),
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := script.New(script.Options{})
			test.script(t, s)

			_, err := llm.Collect(s.Answer(t.Context(), test.in), nil)
			require.ErrorIs(t, err, script.ErrNoReply)
			require.NotContains(t, err.Error(), "sk-secret")
			golden(t, name+".txt", err.Error()+"\n")
			require.Contains(t, s.Unexpected()[0], err.Error(), "it is remembered in the same words")
		})
	}
}
