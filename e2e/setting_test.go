package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// loneAgent is a chain of one agent without tools, to which tests prepend settings.
const loneAgent = `
agents: {Investigator: {}}
agent_chains: {test: {alert_types: [test], stages: [{name: analysis, agents: [{name: Investigator}]}]}}
`

// settled investigates with one provider at a virtual server, and returns the request bodies that the provider received: as
// they came over the wire, not what the server made of them.
func settled(t *testing.T, settings string, replies ...script.Reply) (app *tarsytest.App, sessionID string, sent []string) {
	t.Helper()

	answers := script.New(script.Options{})
	answers.Add(replies...)
	server := tarsytest.NewLLMServer(t, answers)

	app = tarsytest.New(t, tarsytest.Options{
		Config: strings.ReplaceAll(settings, "VIRTUAL", server.URL()) + loneAgent, Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
	})
	sessionID = app.Submit("test", "app-1 was OOM-killed")
	app.Watch(sessionID).WaitStatus("completed")

	for _, request := range server.Requests() {
		sent = append(sent, string(request.Body))
	}

	return app, sessionID, sent
}

// A provider's configured settings are in the requests that it gets.
func TestSettingsReachProvider(t *testing.T) {
	t.Parallel()

	const (
		claude = "llm_providers: {p: {type: anthropic, model: claude-opus-4-5, base_url: VIRTUAL, api_key_env: KEY, " +
			"max_output_tokens: 7777, reasoning_effort: low, native_tools: {code_execution: true}}}\ndefaults: {llm_provider: p}\n"
		gpt = "llm_providers: {p: {type: openai, model: gpt-5, api: responses, base_url: 'VIRTUAL/v1', api_key_env: KEY, " +
			"max_output_tokens: 7777, reasoning_effort: minimal, native_tools: {google_search: true}}}\ndefaults: {llm_provider: p}\n"
		gemini = "llm_providers: {p: {type: google, model: gemini-2.5-pro, base_url: VIRTUAL, api_key_env: KEY, " +
			"max_output_tokens: 7777, reasoning_effort: '321', native_tools: {url_context: true}}}\ndefaults: {llm_provider: p}\n"
		uncached = "system: {prompt_caching: {enabled: false}}\n"
	)

	for name, test := range map[string]struct {
		settings    string
		has, hasNot []string
	}{
		"anthropic":          {claude, []string{`"cache_control":`, `"budget_tokens":4096`, `"code_execution_`}, nil},
		"anthropic uncached": {uncached + claude, nil, []string{`"cache_control":`}},
		"openai":             {gpt, []string{`"max_output_tokens":7777`, `"effort":"minimal"`, `"web_search`}, []string{"cache_control"}},
		"gemini":             {gemini, []string{`"maxOutputTokens":7777`, `"thinkingBudget":321`, `"urlContext":`}, []string{"cache_control"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, _, sent := settled(t, test.settings, says("The root cause."), says("In short."))
			require.Len(t, sent, 3, "the analysis, the summary and the verdict")

			body := strings.ReplaceAll(sent[0], " ", "")
			for _, part := range test.has {
				require.Contains(t, body, part)
			}

			for _, part := range test.hasNot {
				require.NotContains(t, body, part)
			}
		})
	}
}

// The configuration decides how often a call is made, and how long a provider can ask to wait.
func TestConfiguredRetriesAreUsed(t *testing.T) {
	t.Parallel()

	const provider = "llm_providers: {p: {type: openai, model: gpt-5, api: chat, base_url: 'VIRTUAL/v1', api_key_env: KEY}}\n" +
		"defaults: {llm_provider: p, llm_retry: {first_wait: 1ms, max_wait: 1ms, %s}}\n"

	busy := func(after time.Duration) script.Reply {
		return script.Reply{Err: &llm.Error{Status: 429, Message: "slow down", RetryAfter: after}}
	}

	for name, test := range map[string]struct {
		retry    string
		failures []script.Reply
		attempts int
	}{
		"as often as allowed":           {"max_attempts: 4", []script.Reply{busy(0), busy(0), busy(0)}, 4},
		"no more than allowed":          {"max_attempts: 2", []script.Reply{busy(0), busy(0)}, -2},
		"not at all":                    {"max_attempts: 1", []script.Reply{busy(0)}, -1},
		"a wait that may be asked for":  {"max_retry_after: 1s", []script.Reply{busy(time.Second)}, 2},
		"a wait that is asked too long": {"max_retry_after: 1s", []script.Reply{busy(2 * time.Second)}, -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			answers := script.New(script.Options{})
			answers.Add(test.failures...)

			status := "failed"
			if test.attempts > 0 {
				status = "completed"

				answers.Add(says("The root cause."), says("In short."))
			}

			app := tarsytest.New(t, tarsytest.Options{
				Config:    strings.ReplaceAll(fmt.Sprintf(provider, test.retry), "VIRTUAL", tarsytest.NewLLMServer(t, answers).URL()) + loneAgent,
				Providers: true, Env: map[string]string{"KEY": "key-of-the-test"},
			})
			sessionID := app.Submit("test", "app-1 was OOM-killed")
			app.Watch(sessionID).WaitStatus(status)

			call := app.Trace(sessionID).Stages[0].Executions[0].LLMInteractions[0]
			require.Equal(t, max(test.attempts, -test.attempts), call.Attempts)
		})
	}
}

// A call has the price of the bundled table, unless the configuration has another one, unless there is a promotion.
func TestConfiguredPricesAreUsed(t *testing.T) {
	t.Parallel()

	const (
		provider = "llm_providers: {p: {type: openai, model: gpt-5-2025-08-07, api: chat, base_url: 'VIRTUAL/v1', api_key_env: KEY}}\ndefaults: {llm_provider: p}\n"
		rate     = "model_rates: {gpt-5: {input_per_million: 3, output_per_million: 0, cached_input_per_million: 1}}"
		ever     = "promotions: [{model: gpt-5, start: 2000-01-01, end: 2999-12-31, input_per_million: 0.5, output_per_million: 0}]"
		exact    = 1e-9
	)

	for name, test := range map[string]struct {
		estimation string
		cost       float64
	}{
		"bundled":   {"enabled: true", 1.25 + 0.125 + 10},
		"rate":      {rate, 3 + 1},
		"promotion": {rate + ", " + ever, 0.5 + 0.5},
		"off":       {"enabled: false", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			answer := says("The root cause.")
			answer.Usage = &llm.UsageChunk{InputTokens: 2_000_000, CachedTokens: 1_000_000, OutputTokens: 400_000, ThinkingTokens: 600_000}

			app, sessionID, _ := settled(t, "system: {cost_estimation: {"+test.estimation+"}}\n"+provider, answer, used(says("In short."), 0, 0))
			session := app.Session(sessionID)
			require.InDelta(t, test.cost, session.Usage.CostUSD, exact)
			require.Zero(t, session.Usage.UnpricedTokens)
			require.Equal(t, 3_000_000, session.Usage.TotalTokens)
		})
	}
}
