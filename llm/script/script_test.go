package script_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func request(agent string, messages ...llm.Message) *llm.Request {
	return &llm.Request{Agent: agent, Purpose: "iteration", Messages: messages}
}

// ask plays one call to its end.
func ask(t *testing.T, client llm.Client, req *llm.Request) (llm.Response, error) {
	t.Helper()

	return llm.Collect(client.Generate(t.Context(), req), nil)
}

func answer(t *testing.T, client llm.Client, agent string) string {
	t.Helper()

	response, err := ask(t, client, request(agent))
	require.NoError(t, err)

	return response.Text
}

func TestRoutedCallIsOneThatRouteOrOnNames(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "in sequence"})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply { return script.Reply{Text: "made"} })
	require.False(t, s.Routed(&llm.Request{Agent: "Investigator"}), "neither the sequence nor a function is a route")

	s.Route("Investigator", script.Reply{Text: "routed"})
	require.NoError(t, s.On(script.Match{Purpose: "verdict", Turn: new(0)}, script.Reply{Text: "on"}))
	require.True(t, s.Routed(&llm.Request{Agent: "Investigator"}))
	require.True(t, s.Routed(&llm.Request{Purpose: "verdict"}))
	require.False(t, s.Routed(&llm.Request{Agent: "Other", Purpose: "iteration"}))

	require.Equal(t, "routed", answer(t, s, "Investigator"), "asking uses nothing up")
	require.True(t, s.Routed(&llm.Request{Agent: "Investigator"}), "also when its replies are used up")
}

func TestAgentRouteWinsThenFunctionThenSequence(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "first"}, script.Reply{Text: "second"})
	s.Route("Investigator", script.Reply{Text: "routed 1"}, script.Reply{Text: "routed 2"})
	s.RouteFunc(
		func(req *llm.Request) bool { return req.Agent == "Loop" },
		func(_ *llm.Request, n int) script.Reply { return script.Reply{Text: fmt.Sprintf("made %d", n)} },
	)
	s.Route("Loop", script.Reply{Text: "routed before made"})

	require.Equal(t, "first", answer(t, s, "Other"))
	require.Equal(t, "routed 1", answer(t, s, "Investigator"))
	require.Equal(t, "routed before made", answer(t, s, "Loop"))
	require.Equal(t, "made 0", answer(t, s, "Loop"))
	require.Equal(t, "routed 2", answer(t, s, "Investigator"))
	require.Equal(t, "made 1", answer(t, s, "Loop"))
	require.Equal(t, "second", answer(t, s, "Investigator"), "a route without entries leaves the call to the sequence")

	var taken []string
	for _, call := range s.Calls() {
		taken = append(taken, fmt.Sprintf("%s #%d", call.Route, call.Reply))
	}

	require.Equal(t, []string{
		"sequence #0", "agent Investigator #0", "agent Loop #0", "function 0 #0", "agent Investigator #1", "function 0 #1", "sequence #1",
	}, taken)
	require.Empty(t, s.Unused())
	require.Empty(t, s.Unexpected())
}

func TestConcurrentAgentsGetTheirOwnRepliesInOrder(t *testing.T) {
	t.Parallel()

	const agents, replies = 8, 20

	s := script.New(script.Options{})

	for a := range agents {
		for r := range replies {
			s.Route(strconv.Itoa(a), script.Reply{Text: fmt.Sprintf("%d/%d", a, r)})
		}
	}

	var wg sync.WaitGroup
	for a := range agents {
		wg.Go(func() {
			for r := range replies {
				response, err := ask(t, s, request(strconv.Itoa(a)))
				if err != nil || response.Text != fmt.Sprintf("%d/%d", a, r) {
					t.Errorf("agent %d, call %d: %q, %v", a, r, response.Text, err)
				}
			}
		})
	}

	wg.Wait()
	require.Equal(t, agents*replies, s.CallCount())
	require.Len(t, s.Calls(), agents*replies)
}

func TestCallWithoutReplyReportsRequestAndRemainder(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Route("Remediator", script.Reply{ToolCalls: []llm.ToolCall{{Name: "cluster__get_pods"}}}, script.Reply{Text: "Plan:\nrestart"})

	_, err := ask(t, s, request("Investigator", llm.Message{Role: llm.RoleUser, Content: "the pod\n" + strings.Repeat("very ", 100) + "end"}))
	require.ErrorIs(t, err, script.ErrNoReply)

	for _, want := range []string{
		`agent "Investigator"`, `purpose "iteration"`, `message 1 of 1 from user: "the pod very`,
		"agent Remediator, reply 1 of 2: calls cluster__get_pods", `agent Remediator, reply 2 of 2: text "Plan: restart"`,
	} {
		require.ErrorContains(t, err, want)
	}

	require.NotContains(t, err.Error(), "end\"", "the message is shortened")
	require.Len(t, s.Unexpected(), 1)
	require.Contains(t, s.Unexpected()[0], "call 1: ")
	require.Len(t, s.Unused(), 2)

	call := s.Calls()[0]
	require.Equal(t, -1, call.Reply)
	require.ErrorIs(t, call.Err, script.ErrNoReply)
	require.False(t, call.Cancelled)
}

func TestExpectFailureIsCallErrorAndIsRecorded(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	unlike := errors.New("no tools bound")
	expect := func(req *llm.Request) error {
		if len(req.Tools) == 0 {
			return unlike
		}

		return nil
	}
	s.Add(script.Reply{Text: "never", Expect: expect}, script.Reply{Text: "fine", Expect: expect})

	_, err := ask(t, s, request("A"))
	require.ErrorIs(t, err, unlike)
	require.ErrorIs(t, err, script.ErrRefused)
	require.ErrorIs(t, s.Calls()[0].Err, unlike)
	require.Zero(t, s.Calls()[0].Chunks)

	req := request("A")
	req.Tools = []llm.Tool{{Name: "cluster__get_pods"}}
	response, err := ask(t, s, req)
	require.NoError(t, err)
	require.Equal(t, "fine", response.Text)
	require.Len(t, s.Unexpected(), 1)
}

func TestCallsAreCopiesOfRequests(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "ok"})

	req := request("A", llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "before"}}})
	req.Tools = []llm.Tool{{Name: "t", Schema: json.RawMessage(`{}`)}}
	want := *request("A", llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "call_1", Name: "before"}}})
	want.Tools = []llm.Tool{{Name: "t", Schema: json.RawMessage(`{}`)}}

	_, err := ask(t, s, req)
	require.NoError(t, err)

	req.Messages[0].ToolCalls[0].Name = "after"
	req.Messages[0].Content = "after"
	req.Tools[0].Schema[0] = '['
	s.Calls()[0].Request.Messages[0].ToolCalls[0].Name = "after"

	require.Empty(t, cmp.Diff(want, s.Calls()[0].Request))
}

func TestForgettingScriptStillCountsAndAnswers(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{Forget: true})
	s.Add(script.Reply{Text: "one"})
	require.Equal(t, "one", answer(t, s, "A"))

	_, err := ask(t, s, request("A"))
	require.ErrorIs(t, err, script.ErrNoReply)
	require.Equal(t, 2, s.CallCount())
	require.Empty(t, s.Calls())
	require.Empty(t, s.Unexpected())
}

func TestToolCallIDsContinueFromConversation(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply {
		return script.Reply{ToolCalls: []llm.ToolCall{{Name: "a"}, {Name: "b", ID: "own"}, {Name: "c"}}}
	})

	ids := func(req *llm.Request) []string {
		response, err := ask(t, s, req)
		require.NoError(t, err)

		var ids []string
		for _, call := range response.ToolCalls {
			ids = append(ids, call.ID)
		}

		return ids
	}

	require.Equal(t, []string{"call_1", "own", "call_3"}, ids(request("A")))
	require.Equal(t, []string{"call_1", "own", "call_3"}, ids(request("A")), "another conversation starts again")
	require.Equal(t, []string{"call_3", "own", "call_5"}, ids(request("A",
		llm.Message{Role: llm.RoleAssistant, ToolCalls: make([]llm.ToolCall, 2)})))
}

func TestUsageIsEstimatedUnlessGiven(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	given := llm.UsageChunk{InputTokens: 1000, OutputTokens: 7}
	s.Add(script.Reply{Text: "12345678", Thinking: "1234"}, script.Reply{Text: "x", Usage: &given})

	response, err := ask(t, s, request("A", llm.Message{Role: llm.RoleUser, Content: "123456789"}))
	require.NoError(t, err)
	require.Equal(t, llm.UsageChunk{InputTokens: 3, OutputTokens: 2, ThinkingTokens: 1}, response.Usage)

	response, err = ask(t, s, request("A"))
	require.NoError(t, err)
	require.Equal(t, given, response.Usage)
}

func TestChunksArePlayedExactlyAsGiven(t *testing.T) {
	t.Parallel()

	chunks := []llm.Chunk{
		llm.TextChunk{Text: "two words"}, llm.CodeExecutionChunk{Code: "x"}, llm.GroundingChunk{Kind: "url_context"},
		llm.ErrorChunk{Message: "boom"},
	}
	s := script.New(script.Options{})
	s.Add(script.Reply{Chunks: chunks}, script.Reply{Chunks: chunks, Text: "both"})

	var got []llm.Chunk
	for chunk, err := range s.Generate(t.Context(), request("A")) {
		require.NoError(t, err)

		got = append(got, chunk)
	}

	require.Empty(t, cmp.Diff(chunks, got))

	_, err := ask(t, s, request("A"))
	require.ErrorContains(t, err, "but not both")
}

func TestErrComesAfterItsChunks(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")
	tests := map[string]struct {
		after int
		want  string
	}{
		"before the first":          {0, ""},
		"in mid-stream":             {2, "one two "},
		"after more than there are": {99, "one two three"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := script.New(script.Options{})
			s.Add(script.Reply{Text: "one two three", Err: boom, AfterChunks: test.after})

			response, err := ask(t, s, request("A"))
			require.ErrorIs(t, err, boom)
			require.Equal(t, test.want, response.Text)
			require.ErrorIs(t, s.Calls()[0].Err, boom)
			require.False(t, s.Calls()[0].Cancelled)
			require.Empty(t, s.Unexpected(), "a scripted error is expected")
		})
	}
}

func TestStoppedConsumerEndsCall(t *testing.T) {
	t.Parallel()

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "one two three"})

	for chunk, err := range s.Generate(t.Context(), request("A")) {
		require.NoError(t, err)
		require.Equal(t, llm.TextChunk{Text: "one "}, chunk)
		require.Zero(t, s.Calls()[0].End, "the call still runs")

		break
	}

	call := s.Calls()[0]
	require.True(t, call.Cancelled)
	require.NoError(t, call.Err)
	require.Equal(t, 1, call.Chunks)
	require.NotZero(t, call.End)
}

func TestCancelledCallTakesNoReply(t *testing.T) {
	t.Parallel()

	why := errors.New("shutting down")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)

	s := script.New(script.Options{})
	s.Add(script.Reply{Text: "kept"})

	_, err := llm.Collect(s.Generate(ctx, request("A")), nil)
	require.ErrorIs(t, err, why)
	require.Zero(t, s.CallCount())
	require.Equal(t, "kept", answer(t, s, "A"))
}

func TestPiecesJoinToTextWithoutSplittingRunes(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(
			rapid.String(),
			rapid.StringMatching(`([a-zé😀]{0,80}[ \n\t]{0,3}){0,10}`),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		).Draw(t, "text")

		s := script.New(script.Options{})
		s.Add(script.Reply{Text: text, Thinking: text})

		response, err := llm.Collect(s.Generate(context.Background(), request("A")), func(chunk llm.Chunk) error {
			piece, ok := chunk.(llm.TextChunk)
			if !ok {
				return nil
			}

			if piece.Text == "" {
				return errors.New("an empty piece")
			}

			if utf8.ValidString(text) && !utf8.ValidString(piece.Text) {
				return fmt.Errorf("a rune was cut: %q", piece.Text)
			}

			if n := utf8.RuneCountInString(piece.Text); n > 32 {
				return fmt.Errorf("a piece of %d runes", n)
			}

			if words := strings.Fields(piece.Text); len(words) > 1 {
				return fmt.Errorf("two words in a piece: %q", piece.Text)
			}

			return nil
		})
		if err != nil || response.Text != text || response.Thinking != text {
			t.Fatalf("%v\n got %q\nwant %q", err, response.Text, text)
		}
	})
}
