package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// rerunChains has two chains and two providers, one of which no chain uses.
const rerunChains = `
defaults: {llm_provider: first}
llm_providers:
  first: {type: openai, model: gpt-5, api: chat, base_url: '%s', api_key_env: KEY}
  second: {type: anthropic, model: claude-opus-4-5, base_url: '%s', api_key_env: KEY}
agents: {Looker: {mcp_servers: [kubernetes, github]}, Reader: {mcp_servers: [kubernetes]}}
agent_chains:
  shop: {alert_types: [shop], stages: [{name: look, agents: [{name: Looker, llm_provider: first}]}]}
  till: {alert_types: [till], stages: [{name: read, agents: [{name: Reader}]}]}
`

// rerunWorld is a server that reaches its providers over the wire.
type rerunWorld struct {
	app     *tarsytest.App
	model   *script.Script
	options tarsytest.Options
}

// newRerunWorld starts the server. With a gate, the second provider calls a tool first, and its first conclusion waits at the gate.
func newRerunWorld(t *testing.T, gate *script.Gate) *rerunWorld {
	t.Helper()

	w := &rerunWorld{model: script.New(script.Options{})}

	var held atomic.Bool

	w.model.RouteFunc(everyRequest, func(req *llm.Request, _ int) script.Reply {
		switch {
		case strings.Contains(req.Messages[0].Content, "executive summary"):
			return says("In short.")
		case strings.Contains(req.Messages[0].Content, "Write the verdict"):
			return concludes(t, tarsy.OutcomeCauseFound, "it leaks")
		case gate == nil || req.Model == "gpt-5":
			return says("It leaks.")
		case len(req.Messages) == 2: // nothing has been called yet
			return calls("kubernetes__get_pods")
		case !held.Swap(true):
			return script.Reply{Text: "Lost.", Gate: gate}
		default:
			return says("It leaks.")
		}
	})

	server := tarsytest.NewLLMServer(t, w.model)
	w.options = tarsytest.Options{
		Config: fmt.Sprintf(rerunChains, server.OpenAI(), server.Anthropic()), Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
		MCP: []*tarsytest.MCPServer{
			tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "get_pods", ReadOnly: true}),
			tarsytest.NewMCPServer("github", tarsytest.Tool{Name: "issues", ReadOnly: true}, tarsytest.Tool{Name: "merge"}),
		},
	}
	w.app = tarsytest.New(t, w.options)

	return w
}

// rerun runs a session again and returns it once it is done, with the requests that reached the models.
func (w *rerunWorld) rerun(t *testing.T, sessionID string, body any) (tarsy.SessionDetail, []llm.Request) {
	t.Helper()

	before := w.model.CallCount()
	answer := w.app.Do(http.MethodPost, "/api/v1/sessions/"+sessionID+"/rerun", body)
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)

	again := w.app.WaitFor(decode[struct {
		SessionID string `json:"session_id"`
	}](answer.Body).SessionID, tarsy.SessionCompleted)
	require.Equal(t, &sessionID, again.RerunOf)

	var requests []llm.Request
	for _, c := range w.model.Calls()[before:] {
		requests = append(requests, c.Request)
	}

	require.Len(t, requests, 3, "the analysis, the summary and the verdict")

	return again, requests
}

func modelsOf(requests []llm.Request) []string {
	var models []string
	for _, r := range requests {
		models = append(models, r.Model)
	}

	return models
}

func TestRerunUsesOtherProviderChainAndTools(t *testing.T) {
	t.Parallel()

	w := newRerunWorld(t, nil)
	first := w.app.Run("shop", "web is slow")
	require.Empty(t, first.LLMProvider)

	other, requests := w.rerun(t, first.ID, map[string]any{"llm_provider": "second"})
	require.Equal(t, []string{"claude-opus-4-5", "claude-opus-4-5", "claude-opus-4-5"}, modelsOf(requests), "every call goes to the other provider")
	require.Equal(t, []string{"second", "second", "shop"}, []string{other.LLMProvider, other.Stages[0].Executions[0].LLMProvider, other.ChainID})

	same, requests := w.rerun(t, other.ID, nil)
	require.Equal(t, []string{"claude-opus-4-5", "claude-opus-4-5", "claude-opus-4-5"}, modelsOf(requests), "without a body it is run as it was")
	require.Equal(t, "second", same.LLMProvider)

	own, requests := w.rerun(t, other.ID, map[string]any{"llm_provider": ""})
	require.Equal(t, []string{"gpt-5", "gpt-5", "gpt-5"}, modelsOf(requests), "the chain's own again")
	require.Empty(t, own.LLMProvider)

	chained, requests := w.rerun(t, first.ID, map[string]any{"chain_id": "till"})
	require.Equal(t, []string{"till", "shop", "Reader"}, []string{chained.ChainID, chained.AlertType, chained.AgentType})
	require.Equal(t, "Reader", chained.Stages[0].Executions[0].AgentName)
	require.Equal(t, []string{"kubernetes__get_pods"}, toolNames(requests[0].Tools))

	_, requests = w.rerun(t, first.ID, nil)
	require.ElementsMatch(t, []string{"kubernetes__get_pods", "github__issues", "github__merge"}, toolNames(requests[0].Tools))

	limited, requests := w.rerun(t, first.ID, map[string]any{"mcp": selecting("github", "issues")["mcp_selection"]})
	require.Equal(t, []string{"github__issues"}, toolNames(requests[0].Tools))
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "github", Tools: []string{"issues"}}}, limited.MCPSelection.Servers)

	require.Equal(t, []string{"shop", ""}, []string{w.app.Session(first.ID).ChainID, w.app.Session(first.ID).LLMProvider}, "the old session stays as it was")
}

func TestRerunWithWhatIsNotConfiguredIsRefused(t *testing.T) {
	t.Parallel()

	w := newRerunWorld(t, nil)
	path := "/api/v1/sessions/" + w.app.Run("shop", "web is slow").ID + "/rerun"

	w.app.WaitAnswer("/api/v1/system/default-tools?chain_id=shop", "the tools", func(r tarsytest.Response) bool {
		return strings.Count(string(r.Body), `"known":true`) == 2
	})

	mcp := func(server string, tools ...string) any { return selecting(server, tools...)["mcp_selection"] }

	for _, test := range []struct {
		body   map[string]any
		code   tarsy.Code
		field  string
		detail string
	}{
		{map[string]any{"chain_id": "tills"}, tarsy.CodeUnknownChain, "chain_id", "did you mean till?"},
		{map[string]any{"llm_provider": "secnd"}, tarsy.CodeUnknownLLMProvider, "llm_provider", "did you mean second?"},
		{map[string]any{"mcp": mcp("gitlab")}, tarsy.CodeUnknownMCPServer, "mcp_selection.servers", "did you mean github?"},
		{map[string]any{"chain_id": "till", "mcp": mcp("github")}, tarsy.CodeMCPServerNotAllowed, "mcp_selection.servers", "known MCP servers of the chain: kubernetes"},
		{map[string]any{"mcp": mcp("github", "isues")}, tarsy.CodeUnknownTool, "mcp_selection.servers[0].tools[0]", "did you mean issues?"},
		{map[string]any{"provider": "second"}, tarsy.CodeUnknownField, "provider", "did you mean llm_provider?"},
	} {
		answer := w.app.Do(http.MethodPost, path, test.body)
		require.Equal(t, http.StatusBadRequest, answer.Status, "%s", answer.Body)
		require.Equal(t, string(test.code), answer.Problem(t).Code)
		require.Equal(t, test.field, answer.Problem(t).Field)
		require.Contains(t, answer.Problem(t).Detail, test.detail)
	}

	require.Len(t, w.app.Sessions(""), 1, "nothing is stored")
}

// The provider is part of what the session follows, so a server that takes the session over continues with it.
func TestServerThatTakesOverRerunKeepsItsProvider(t *testing.T) {
	t.Parallel()

	gate := script.NewGate()
	w := newRerunWorld(t, gate)
	first := w.app.Run("shop", "web is slow")

	answer := w.app.Do(http.MethodPost, "/api/v1/sessions/"+first.ID+"/rerun", map[string]any{"llm_provider": "second"})
	require.Equal(t, http.StatusAccepted, answer.Status, "%s", answer.Body)
	w.app.WaitGate(gate)
	w.app.Stop()

	next := w.options
	next.Database = w.app.Database
	w.app = tarsytest.New(t, next)

	again := w.app.WaitFor(decode[struct {
		SessionID string `json:"session_id"`
	}](answer.Body).SessionID, tarsy.SessionCompleted)
	require.Equal(t, "It leaks.", again.FinalAnalysis)

	asked := w.app.LLMInteractions(again.ID)
	require.Len(t, asked, 4, "the tool call, the analysis, the summary and the verdict")

	for _, call := range asked {
		require.Equal(t, "claude-opus-4-5", call.ModelName)
	}
}
