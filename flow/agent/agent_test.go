package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// question is what the fixture sends; real branches have their own types.
type question struct{ Conversation, Text string }

type fixture struct {
	*flow.Flow
	agent *agent.Agent
	asked flow.Out[question]
	llm   *script.Script
}

func start(t *testing.T, config agent.Config) *fixture {
	t.Helper()

	f := &fixture{llm: script.New(script.Options{})}
	config.Client, config.Model = f.llm, "test-model"
	f.agent = agent.New(config)

	asker := flow.NewBranch("asker")
	f.asked = flow.Produces[question](asker)

	built, err := flow.Build([]*flow.Branch{asker, f.agent.Branch},
		flow.Route(f.asked, f.agent.Prompts, func(_ context.Context, q question) (agent.Prompt, error) {
			return agent.Prompt(q), nil
		}),
		flow.Terminal(f.agent.Responses),
		flow.Terminal(f.agent.Thoughts),
		flow.Terminal(f.agent.Failures),
	)
	require.NoError(t, err)
	require.NoError(t, built.Start(t.Context()))

	f.Flow = built

	t.Cleanup(func() { require.NoError(t, built.Stop(context.Background())) })

	return f
}

func (f *fixture) ask(t *testing.T, conversation, text string) {
	t.Helper()

	ctx, cancel := context.WithTimeoutCause(t.Context(), slowness.Scale(30*time.Second), errors.New("no answer"))
	defer cancel()

	require.NoError(t, f.asked.Send(ctx, question{conversation, text}))
	require.NoError(t, f.WaitIdle(ctx))
}

// entries returns the entries of one type, oldest first.
func entries[T any](t *testing.T, f *fixture) (all []T) {
	t.Helper()

	for record, err := range f.agent.Journal().Backward(t.Context(), 0) {
		require.NoError(t, err)

		if flow.Is[T](record.Entry) {
			value, err := flow.As[T](record.Entry)
			require.NoError(t, err)

			all = append([]T{value}, all...)
		}
	}

	return all
}

func TestAgentProducesAWholeResponseWithItsMetadata(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	f := start(t, agent.Config{Clock: clock})
	f.llm.Add(script.Reply{Thinking: "Who asks?", Text: "I am a helpful assistant.", Trickle: true})
	f.ask(t, "c", "Who are you?")

	responses := entries[agent.Response](t, f)
	require.Len(t, responses, 1)

	meta := responses[0].Meta
	require.NotEmpty(t, meta.ResponseID)
	require.Equal(t, agent.Meta{
		Conversation: "c", ResponseID: meta.ResponseID, Model: "test-model", Timestamp: clock.Now().UTC(),
	}, meta)
	require.Equal(t, agent.Response{Meta: meta, Text: "I am a helpful assistant.", Last: true}, responses[0])
	require.Equal(t, []agent.Thought{{Meta: meta, Text: "Who asks?"}}, entries[agent.Thought](t, f))
	require.Equal(t, []agent.StreamCompleted{{Meta: meta, Prompt: "Who are you?", Text: "I am a helpful assistant."}},
		entries[agent.StreamCompleted](t, f))

	chunks := entries[agent.Chunk](t, f)
	require.Len(t, chunks, len("I am a helpful assistant."), "as they came from the model")
	require.Equal(t, agent.Chunk{Meta: meta, Text: "I"}, chunks[0])
	require.Len(t, entries[agent.ThoughtChunk](t, f), len("Who asks?"))
}

func TestAgentStreamsPartsAsItsWindowSays(t *testing.T) {
	t.Parallel()

	f := start(t, agent.Config{Window: flow.WindowParagraph, ThoughtWindow: flow.WindowSentence})
	f.llm.Add(script.Reply{Thinking: "First. Second.", Text: "First paragraph.\n\nSecond paragraph.", Trickle: true})
	f.ask(t, "", "Go on")

	var texts []string
	for i, response := range entries[agent.Response](t, f) {
		require.Equal(t, i, response.Index)
		require.Equal(t, i == 1, response.Last)

		texts = append(texts, response.Text)
	}

	require.Equal(t, []string{"First paragraph.\n\n", "Second paragraph."}, texts)
	require.Len(t, entries[agent.Thought](t, f), 2)
}

func TestAgentDoesNotAnswerEmptyPrompts(t *testing.T) {
	t.Parallel()

	f := start(t, agent.Config{})
	f.ask(t, "", "")
	f.ask(t, "", " \n\t")
	require.Zero(t, f.llm.CallCount())
	require.Empty(t, entries[agent.Response](t, f))
}

func TestAgentRemembersTheLatestTurnsOfTheConversation(t *testing.T) {
	t.Parallel()

	kept := journal.NewMemory[flow.Entry](clockwork.NewRealClock())
	f := start(t, agent.Config{Instructions: "Be brief.", History: 2})

	for _, name := range []string{"one", "two", "three", "four"} {
		f.llm.Add(script.Reply{Text: "answer " + name})
	}

	f.ask(t, "a", "one")
	f.ask(t, "a", "two")
	f.ask(t, "b", "three")
	f.ask(t, "a", "four")

	calls := f.llm.Calls()
	require.Equal(t, []llm.Message{
		{Role: llm.RoleSystem, Content: "Be brief."},
		{Role: llm.RoleUser, Content: "one"}, {Role: llm.RoleAssistant, Content: "answer one"},
		{Role: llm.RoleUser, Content: "two"}, {Role: llm.RoleAssistant, Content: "answer two"},
		{Role: llm.RoleUser, Content: "four"},
	}, calls[3].Request.Messages)
	require.Len(t, calls[2].Request.Messages, 2, "another conversation has its own history")

	// A restart with the same journal continues the conversation.
	for record, err := range f.agent.Journal().Tail(t.Context(), 0) {
		require.NoError(t, err)

		stored, err := json.Marshal(record.Entry)
		require.NoError(t, err)

		var entry flow.Entry

		require.NoError(t, json.Unmarshal(stored, &entry))
		_, err = kept.Append(t.Context(), entry)
		require.NoError(t, err)

		if head, _ := f.agent.Journal().Head(t.Context()); record.Position == head {
			break
		}
	}

	again := &fixture{llm: script.New(script.Options{})}
	again.agent = agent.New(agent.Config{Client: again.llm, History: 1})
	again.agent.KeepIn(kept)

	asker := flow.NewBranch("asker")
	again.asked = flow.Produces[question](asker)
	built, err := flow.Build([]*flow.Branch{asker, again.agent.Branch},
		flow.Route(again.asked, again.agent.Prompts, func(_ context.Context, q question) (agent.Prompt, error) {
			return agent.Prompt(q), nil
		}),
		flow.Terminal(again.agent.Responses), flow.Terminal(again.agent.Thoughts), flow.Terminal(again.agent.Failures))
	require.NoError(t, err)
	require.NoError(t, built.Start(t.Context()))

	again.Flow = built

	again.llm.Add(script.Reply{Text: "answer five"})
	again.ask(t, "a", "five")
	require.Equal(t, []llm.Message{
		{Role: llm.RoleUser, Content: "four"}, {Role: llm.RoleAssistant, Content: "answer four"},
		{Role: llm.RoleUser, Content: "five"},
	}, again.llm.Calls()[0].Request.Messages)
	require.NoError(t, built.Stop(t.Context()))
}

func TestAgentReportsModelFailureAndContinues(t *testing.T) {
	t.Parallel()

	f := start(t, agent.Config{Window: flow.WindowImmediate})
	f.llm.Add(script.Reply{Err: errors.New("quota exceeded")})
	f.ask(t, "", "first")

	failures := entries[agent.Failure](t, f)
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Error, "quota exceeded")
	require.Empty(t, entries[agent.StreamCompleted](t, f), "a failed response is not part of the history")

	f.llm.Add(script.Reply{Text: "works again"})
	f.ask(t, "", "second")
	require.Equal(t, "works again", entries[agent.StreamCompleted](t, f)[0].Text)
}

func TestAgentUsesItsToolsWithinTheLimit(t *testing.T) {
	t.Parallel()

	f := start(t, agent.Config{
		MaxCalls: 3,
		Tools: []agent.Tool{{
			Tool: llm.Tool{Name: "time", Schema: json.RawMessage(`{"type":"object"}`)},
			Call: func(_ context.Context, arguments json.RawMessage) (string, error) {
				if string(arguments) == `{"zone":"nowhere"}` {
					return "", errors.New("no such zone")
				}

				return "12:00", nil
			},
		}},
	})

	call := func(name, arguments string) script.Reply {
		return script.Reply{ToolCalls: []llm.ToolCall{{ID: "1", Name: name, Arguments: arguments}}}
	}

	f.llm.Add(call("time", `{}`), call("time", `{"zone":"nowhere"}`), call("date", `{}`), script.Reply{Text: "It is noon."})
	f.ask(t, "", "What time is it?")

	used := entries[agent.ToolUsed](t, f)
	require.Len(t, used, 3)
	require.Equal(t, "12:00", used[0].Result)
	require.False(t, used[0].Failed)
	require.Equal(t, "Error: no such zone", used[1].Result)
	require.Equal(t, `Error: there is no tool "date"`, used[2].Result)
	require.True(t, used[2].Failed)

	calls := f.llm.Calls()
	require.Len(t, calls, 4)
	require.Len(t, calls[0].Request.Tools, 1)
	require.Empty(t, calls[3].Request.Tools, "after the limit the model can only answer")
	require.Len(t, calls[3].Request.Messages, 7)
	require.Equal(t, "It is noon.", entries[agent.StreamCompleted](t, f)[0].Text)
}
