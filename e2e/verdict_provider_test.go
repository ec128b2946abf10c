package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// judgedBy investigates with a provider's client over the wire. judge answers each verdict call.
func judgedBy(t *testing.T, settings func(s *tarsytest.LLMServer, gateway string) string, judge func(*llm.Request) script.Reply) (*script.Script, *tarsytest.App, tarsy.SessionDetail) {
	t.Helper()

	model := script.New(script.Options{})
	model.RouteFunc(everyRequest, func(req *llm.Request, _ int) script.Reply {
		switch system := req.Messages[0].Content; {
		case strings.Contains(system, "Write the verdict"):
			return judge(req)
		case strings.Contains(system, "executive summary"):
			return says("In short.")
		default:
			return says("It leaks.")
		}
	})

	server := tarsytest.NewLLMServer(t, model)
	app := tarsytest.New(t, tarsytest.Options{
		Config: loneAgent + "defaults: {llm_provider: model}\nllm_providers: {model: {" +
			settings(server, gateway(t, model)) + ", api_key_env: KEY}}\n",
		Providers: true, Env: map[string]string{"KEY": "key-of-the-test", "PROJECT": "p", "LOCATION": "l"},
	})

	return model, app, app.Run("test", "web is slow")
}

// verdictCalls returns the verdict requests that reached the model.
func verdictCalls(model *script.Script) []llm.Request {
	var found []llm.Request

	for _, c := range model.Calls() {
		if strings.Contains(c.Request.Messages[0].Content, "Write the verdict") {
			found = append(found, c.Request)
		}
	}

	return found
}

func TestVerdictWithEachProvider(t *testing.T) {
	t.Parallel()

	for name, settings := range providers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			model, _, session := judgedBy(t, settings, func(*llm.Request) script.Reply { return concludes(t, tarsy.OutcomeFalseAlarm, "") })
			require.Equal(t, tarsy.OutcomeFalseAlarm, session.Outcome, session.VerdictError)

			calls := verdictCalls(model)
			require.Len(t, calls, 1)
			require.Contains(t, string(calls[0].ResponseSchema), "confidence_reason", "the provider holds the model to the schema")
		})
	}
}

// A provider that refuses a request with a schema is asked again in words, and the answer is parsed just as strictly.
func TestProviderWithoutSchemaIsAskedForVerdictInWords(t *testing.T) {
	t.Parallel()

	refuse := func(then script.Reply) func(*llm.Request) script.Reply {
		return func(req *llm.Request) script.Reply {
			if len(req.ResponseSchema) > 0 {
				return script.Reply{Err: &llm.Error{Status: 400, Code: "invalid_request_error", Message: "response_format is not supported by this model"}}
			}

			return then
		}
	}

	for _, name := range []string{"openai chat", "openai responses", "anthropic", "gemini"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			model, app, session := judgedBy(t, providers[name], refuse(concludes(t, tarsy.OutcomeProbableCause, "web leaks memory")))
			require.Equal(t, tarsy.OutcomeProbableCause, session.Outcome, session.VerdictError)

			calls := verdictCalls(model)
			require.Len(t, calls, 2)
			require.Empty(t, calls[1].ResponseSchema)
			require.Contains(t, calls[1].Messages[0].Content, `"confidence_reason"`, "the schema is in the prompt")

			var made []string

			for _, c := range app.LLMInteractions(session.ID) {
				if c.InteractionType == tarsy.InteractionVerdict {
					made = append(made, c.ErrorCode)
				}
			}

			require.Equal(t, []string{"llm_invalid_request", ""}, made, "both calls are in the trace")
		})
	}

	t.Run("prose", func(t *testing.T) {
		t.Parallel()

		_, _, session := judgedBy(t, providers["openai chat"], refuse(says("I am sure that it leaks.")))
		require.Equal(t, tarsy.SessionCompleted, session.Status)
		require.Empty(t, session.Outcome)
		require.Contains(t, session.VerdictError, "does not fit the schema")
	})
}
