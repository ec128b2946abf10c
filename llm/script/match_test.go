package script_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// conversation returns a second turn, with two tool results.
func conversation() *llm.Request {
	return &llm.Request{
		Agent: "Investigator", Purpose: "iteration", Model: "gpt-5-mini",
		Messages: []llm.Message{
			{Role: llm.RoleSystem, Content: "Be brief."}, {Role: llm.RoleSystem, Content: "Be kind."},
			{Role: llm.RoleUser, Content: "Why does the pod restart?"},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "old"}}}, {Role: llm.RoleTool, Content: "old result"},
			{Role: llm.RoleUser, Content: "Look at its events."},
			{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "2", Name: "events"}, {ID: "3", Name: "logs"}}},
			{Role: llm.RoleTool, Content: "OOMKilled, exit 137"}, {Role: llm.RoleTool, Content: "out of memory"},
		},
	}
}

func takes(t *testing.T, match script.Match, in script.Incoming) bool {
	t.Helper()

	s := script.New(script.Options{})
	require.NoError(t, s.On(match, script.Reply{Text: "taken"}))

	_, err := llm.Collect(s.Answer(t.Context(), in), nil)
	if err != nil {
		require.ErrorIs(t, err, script.ErrNoReply)
	}

	return err == nil
}

func TestEachConditionChecksItsPartOfCall(t *testing.T) {
	t.Parallel()

	contains := func(text string) script.Text { return script.Text{Contains: text} }
	header := func(name string, text script.Text) script.Match {
		return script.Match{Header: map[string]script.Text{name: text}}
	}

	for name, test := range map[string]struct{ holds, fails script.Match }{
		"agent":               {script.Match{Agent: "Investigator"}, script.Match{Agent: "Invest"}},
		"purpose":             {script.Match{Purpose: "iteration"}, script.Match{Purpose: "summary"}},
		"model contains":      {script.Match{Model: contains("gpt-5")}, script.Match{Model: contains("claude")}},
		"model equals":        {script.Match{Model: script.Text{Equals: "gpt-5-mini"}}, script.Match{Model: script.Text{Equals: "gpt-5"}}},
		"model matches":       {script.Match{Model: script.Text{Matches: "^gpt-[45]"}}, script.Match{Model: script.Text{Matches: "^5"}}},
		"system of any":       {script.Match{System: contains("kind")}, script.Match{System: contains("rude")}},
		"system is joined":    {script.Match{System: script.Text{Equals: "Be brief.\nBe kind."}}, script.Match{System: script.Text{Equals: "Be brief."}}},
		"user is the last":    {script.Match{User: contains("events")}, script.Match{User: contains("restart")}},
		"one tool result":     {script.Match{ToolResult: contains("exit 137")}, script.Match{ToolResult: contains("exit 1 ")}},
		"another tool result": {script.Match{ToolResult: contains("out of")}, script.Match{ToolResult: contains("old result")}},
		"turn":                {script.Match{Turn: new(2)}, script.Match{Turn: new(0)}},
		"header in any case":  {header("x-TEAM", contains("blue")), header("x-team", contains("red"))},
		"header of two values": {
			header("x-two", script.Text{Equals: "a, b"}), header("x-none", script.Text{Matches: ".*"}),
		},
		"all of a text": {
			script.Match{User: script.Text{Contains: "events", Matches: "^Look"}},
			script.Match{User: script.Text{Contains: "events", Matches: "^Do"}},
		},
		"a text for one result": {
			script.Match{ToolResult: script.Text{Contains: "OOM", Matches: "137"}},
			script.Match{ToolResult: script.Text{Contains: "OOM", Matches: "memory"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			in := script.Incoming{Request: conversation(), Header: http.Header{"X-Team": {"blue"}, "X-Two": {"a", "b"}}}
			require.True(t, takes(t, test.holds, in))
			require.False(t, takes(t, test.fails, in))
		})
	}
}

func TestMissingValueMatchesNoCondition(t *testing.T) {
	t.Parallel()

	anything := script.Text{Matches: ".*"}

	for name, match := range map[string]script.Match{
		"system": {System: anything}, "user": {User: anything}, "tool result": {ToolResult: anything}, "header": {Header: map[string]script.Text{"X-Team": anything}},
	} {
		require.False(t, takes(t, match, script.Incoming{Request: &llm.Request{}}), name)
	}

	require.True(t, takes(t, script.Match{}, script.Incoming{Request: &llm.Request{}}), "no condition takes every call")
}

func TestConditionsMustAllHold(t *testing.T) {
	t.Parallel()

	all := []func(*script.Match, bool){
		func(m *script.Match, right bool) { m.Agent = pick(right, "Investigator") },
		func(m *script.Match, right bool) { m.Purpose = pick(right, "iteration") },
		func(m *script.Match, right bool) { m.Model.Contains = pick(right, "gpt") },
		func(m *script.Match, right bool) { m.System.Contains = pick(right, "brief") },
		func(m *script.Match, right bool) { m.User.Contains = pick(right, "events") },
		func(m *script.Match, right bool) { m.ToolResult.Contains = pick(right, "OOM") },
		func(m *script.Match, right bool) {
			m.Header = map[string]script.Text{"X-Team": {Equals: pick(right, "blue")}}
		},
		func(m *script.Match, right bool) { m.Turn = new(len(pick(right, "12"))) },
	}

	in := script.Incoming{Request: conversation(), Header: http.Header{"X-Team": {"blue"}}}

	for wrong := -1; wrong < len(all); wrong++ {
		var match script.Match
		for i, set := range all {
			set(&match, i != wrong)
		}

		require.Equal(t, wrong < 0, takes(t, match, in), "condition %d is wrong", wrong)
	}
}

func pick(right bool, text string) string {
	if right {
		return text
	}

	return "something else"
}

func TestCallerAgentIsReadFromHeaderOrPrompt(t *testing.T) {
	t.Parallel()

	prompt := func(text string) *llm.Request {
		return &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "You are Nobody,"}, {Role: llm.RoleSystem, Content: text}}}
	}
	named := http.Header{"X-Tarsy-Agent": {"Named"}}

	for name, test := range map[string]struct {
		in   script.Incoming
		want string
	}{
		"the request's own":        {script.Incoming{Request: request("Own"), Header: named}, "Own"},
		"the header's":             {script.Incoming{Request: prompt("You are Prompted, an engineer."), Header: named}, "Named"},
		"the prompt's":             {script.Incoming{Request: prompt("You are Prompted, an engineer."), Header: http.Header{}}, "Prompted"},
		"not from other words":     {script.Incoming{Request: prompt("Now you are Prompted, an engineer."), Header: http.Header{}}, ""},
		"not from a sentence":      {script.Incoming{Request: prompt("You are kind. First, look."), Header: http.Header{}}, ""},
		"not from within":          {script.Incoming{Request: prompt("You are Prompted, an engineer.")}, ""},
		"nor from an endless name": {script.Incoming{Request: prompt("You are " + string(make([]byte, 300)) + ","), Header: http.Header{}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := script.New(script.Options{})
			s.Route(test.want, script.Reply{Text: "taken"})

			_, err := llm.Collect(s.Answer(t.Context(), test.in), nil)
			require.NoError(t, err)
			require.Equal(t, test.want, s.Calls()[0].Request.Agent)
		})
	}
}

func TestInvalidRouteIsRefused(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	err := s.On(script.Match{
		Model: script.Text{Matches: "("}, Turn: new(-1), Header: map[string]script.Text{"x-team": {Matches: "["}},
	}, script.Reply{})
	require.EqualError(t, err, "add a route to a script: model: read a pattern: error parsing regexp: missing closing ): `(`\n"+
		"header X-Team: read a pattern: error parsing regexp: missing closing ]: `[`\nturn must not be negative")

	err = s.On(script.Match{}, script.Reply{}, script.Reply{Text: "a", Chunks: []llm.Chunk{}})
	require.ErrorContains(t, err, "reply 2")
	require.Empty(t, s.Unused(), "nothing was added")
}

func TestRoutesAreTriedInOrderUntilUsedUp(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "sequence"})
	require.NoError(t, s.On(script.Match{Purpose: "iteration"}, script.Reply{Text: "first"}))
	s.Route("A", script.Reply{Text: "second"})
	require.NoError(t, s.On(script.Match{Name: "named", Agent: "A"}, script.Reply{Text: "third", Times: 2}, script.Reply{Text: "fourth"}))
	require.NoError(t, s.On(script.Match{Agent: "B"}, script.Reply{Text: "never", Times: -1}))

	var got, routes []string
	for range 6 {
		got = append(got, answer(t, s, "A"))
	}

	for _, call := range s.Calls() {
		routes = append(routes, call.Route)
	}

	require.Equal(t, []string{"first", "second", "third", "third", "fourth", "sequence"}, got)
	require.Equal(t, []string{"purpose iteration", "agent A", "named", "named", "named", "sequence"}, routes)
	require.Equal(t, []string{`agent B, reply 1 of 1: text "never"`}, s.Unused())
}

func TestRoutesOfSameNameAreDistinguished(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	for range 2 {
		require.NoError(t, s.On(script.Match{User: script.Text{Contains: "disk"}, Turn: new(0)}, script.Reply{}))
	}

	require.Equal(t, []string{
		`user contains "disk", turn 0, reply 1 of 1: empty`, `user contains "disk", turn 0 (2), reply 1 of 1: empty`,
	}, s.Unused())
}
