package e2e

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	llmgrpc "tarsy.dev/tarsy/llm/grpc"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// providers are the ways to reach a model: the settings of the provider, given the addresses of a virtual server.
var providers = map[string]func(s *tarsytest.LLMServer, gateway string) string{
	"gemini": func(s *tarsytest.LLMServer, _ string) string {
		return "type: google, model: gemini-3-pro-preview, base_url: '" + s.Gemini() + "'"
	},
	"vertex": func(s *tarsytest.LLMServer, _ string) string {
		return "type: vertexai, model: gemini-2.5-pro, project_env: PROJECT, location_env: LOCATION, base_url: '" + s.Gemini() + "'"
	},
	"openai chat": func(s *tarsytest.LLMServer, _ string) string {
		return "type: openai, model: gpt-5, api: chat, base_url: '" + s.OpenAI() + "'"
	},
	"openai responses": func(s *tarsytest.LLMServer, _ string) string {
		return "type: openai, model: gpt-5, api: responses, base_url: '" + s.OpenAI() + "'"
	},
	"anthropic": func(s *tarsytest.LLMServer, _ string) string {
		return "type: anthropic, model: claude-opus-4-5, base_url: '" + s.Anthropic() + "'"
	},
	"grpc": func(_ *tarsytest.LLMServer, gateway string) string {
		return "type: grpc, model: any, base_url: 'grpc://" + gateway + "'"
	},
}

// answerOOM scripts the replies to the agents of oomChain.
func answerOOM(t *testing.T, s *script.Script) {
	t.Helper()

	on := func(match script.Match, replies ...script.Reply) { require.NoError(t, s.On(match, replies...)) }
	agent := func(name string, replies ...script.Reply) { on(script.Match{Agent: name}, replies...) }

	both := script.Reply{
		Thinking: "Two things to look at.", Text: "I look at the logs and the metrics.", Signature: "c2lnbmVk",
		ToolCalls: []llm.ToolCall{
			{Name: "test-mcp__get_pod_logs", Arguments: `{"pod":"app-1"}`}, {Name: "test-mcp__get_metrics", Arguments: `{"pod":"app-1"}`},
		},
	}

	agent("DataCollector", both, script.Reply{Thinking: "That is clear.", Text: "Collected metrics showing OOM – 1.9 of 2 GiB. 🙈"})
	agent("MetricsAgent", tool("get_metrics", `{"pod":"app-1"}`), says("Memory grows until the limit."))
	agent("EventsAgent", tool("get_events", `{}`), says("The pod was OOM-killed five times."))
	agent("SynthesisAgent", says("Both agents agree on a memory leak."))
	agent("Diagnostician", says("The root cause is a memory leak in app."))
	on(script.Match{System: script.Text{Contains: "executive summary"}}, says("app-1 ran out of memory because of a leak."))
	agent("ChatAgent", tool("get_pod_status", `{"pod":"app-1"}`), says("The leak in the cache caused it."))
}

// gateway serves a script over the gRPC protocol.
func gateway(t *testing.T, s *script.Script) string {
	t.Helper()

	var listen net.ListenConfig

	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	server := grpc.NewServer()
	llmgrpc.Register(server, s)

	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	t.Cleanup(func() {
		server.Stop()
		require.NoError(t, <-served)
	})

	return listener.Addr().String()
}

// The same investigation runs with every provider, over the wire: people see exactly the same.
func TestInvestigationWithEachProvider(t *testing.T) {
	t.Parallel()

	for name, settings := range providers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			answers := script.New(script.Options{})
			answerOOM(t, answers)

			server := tarsytest.NewLLMServer(t, answers)
			app := tarsytest.New(t, tarsytest.Options{
				Config: strings.Replace(oomChain, "llm_provider: test", "llm_provider: model", 1) + "\nllm_providers: {model: {" + settings(server, gateway(t, answers)) + ", api_key_env: KEY}}\n",
				MCP:    []*tarsytest.MCPServer{oomTools()}, Providers: true,
				Env: map[string]string{"KEY": "key-of-the-test", "PROJECT": "p", "LOCATION": "l"},
			})

			sessionID := app.Submit("kubernetes-oom", "app-1 was OOM-killed")
			socket := app.Watch(sessionID)
			socket.WaitStatus("completed")
			socket.WaitStage(app.Ask(sessionID, "What caused the OOM?").StageID)

			require.Equal(t, tarsy.SessionCompleted, app.Session(sessionID).Status)

			n := app.Normalizer(sessionID)
			tarsytest.GoldenJSON(t, n, "providers/timeline.golden", n.Timeline(app.Timeline(sessionID)))

			// The signature that the provider sent with its thinking was sent back to it.
			signed := 0

			for _, call := range answers.Calls() {
				for _, message := range call.Request.Messages {
					if message.Signature != nil && string(message.Signature.Data) == `"c2lnbmVk"` {
						signed++
					}
				}
			}

			want := 1
			if name == "openai chat" {
				want = 0 // that API has none
			}

			require.Equal(t, want, signed)
		})
	}
}
