package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

// RealVariable is the environment variable that enables tests that call real APIs, which costs money: it must be "1".
const RealVariable = "TARSY_TEST_REAL_LLM"

// realPatience is how long a real model can take; thinking models are slow.
const realPatience = 3 * time.Minute

// RealProvider is a client of a real API.
type RealProvider struct {
	Name string
	// KeyVariable is the name of the environment variable that contains the key.
	KeyVariable string
	Model       string
	// Effort is the reasoning effort at which the model shows its thinking; empty sets none.
	Effort string
	New    func(t *testing.T, key string) llm.Client
	// Lacks lists what the API or the model does not have.
	Lacks []Feature
}

// live is one case against a real API.
type live struct {
	*testing.T
	p      RealProvider
	client llm.Client
}

// RunReal checks the contract against the real API: what must be true of every answer, whatever the model writes. RealKey
// decides when it is skipped.
func RunReal(t *testing.T, p RealProvider) {
	t.Helper()

	key := RealKey(t, p.Name, p.KeyVariable)

	for name, test := range map[string]func(*live){
		"text streams and usage is counted":              realText,
		"a tool is called and its result used":           realTool,
		"several tools are called at once":               realParallel,
		"thinking is shown and its signature taken back": realThinking,
		"an answer follows the schema":                   realSchema,
		"a limit of tokens cuts the answer":              realLimit,
		"odd tool definitions are taken":                 realSchemas,
		"a wrong key is an auth error":                   realWrongKey,
		"a missing model is reported":                    realNoModel,
		"cancelling in mid-stream ends the call":         realCancel,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&live{T: t, p: p, client: p.New(t, key)})
		})
	}
}

// RealKey returns the key of a real API. It skips the test unless RealVariable is "1", and if only another provider's key is
// set. If RealVariable is "1" and there is no key at all, the test fails, because nothing would be tested.
func RealKey(t *testing.T, provider, variable string) string {
	t.Helper()

	key, skip, fail := realKey(os.Getenv, provider, variable)

	switch {
	case fail != "":
		t.Fatal(fail)
	case skip != "":
		t.Skip(skip)
	}

	return key
}

// realKey decides whether a test with a real API runs, and if not, why.
func realKey(env func(string) string, provider, variable string) (key, skip, fail string) {
	key = env(variable)
	other := slices.ContainsFunc(keyVariables(), func(name string) bool { return env(name) != "" })

	switch {
	case env(RealVariable) == "1" && key != "":
		return key, "", ""
	case env(RealVariable) == "1" && !other:
		return "", "", fmt.Sprintf("%s=1 asks for tests of real APIs, and there is no key: set %s", RealVariable, variable)
	default:
		return "", fmt.Sprintf("calls the real API of %s, which costs money: set %s=1 and %s to run it", provider, RealVariable, variable), ""
	}
}

// keyVariables returns the names of the variables that contain the providers' keys.
func keyVariables() []string {
	return []string{"ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY"}
}

func (r *live) has(feature Feature) bool { return Provider{Lacks: r.p.Lacks}.has(feature) }

func (r *live) request(messages ...llm.Message) *llm.Request {
	return &llm.Request{Provider: r.p.Name, Model: r.p.Model, Messages: messages, MaxOutputTokens: 8000}
}

func (r *live) ctx() context.Context {
	ctx, cancel := context.WithTimeoutCause(r.Context(), realPatience, errors.New("the real API took too long"))
	r.Cleanup(cancel)

	return ctx
}

// answer makes a call that must succeed, and checks what must be true of every answer.
func (r *live) answer(req *llm.Request) llm.Response {
	r.Helper()

	var last llm.Chunk

	response, err := llm.Collect(r.client.Generate(r.ctx(), req), func(chunk llm.Chunk) error {
		last = chunk

		return nil
	})
	require.NoError(r, err)
	require.IsType(r, llm.EndChunk{}, last, "the end comes last")
	require.NotEmpty(r, response.End.Reason)
	require.Positive(r, response.Usage.InputTokens)
	require.Positive(r, response.Usage.OutputTokens+response.Usage.ThinkingTokens)
	require.LessOrEqual(r, response.Usage.CachedTokens, response.Usage.InputTokens)

	for _, call := range response.ToolCalls {
		require.NotEmpty(r, call.ID)
		require.NotEmpty(r, call.Name)
		require.True(r, json.Valid([]byte(call.Arguments)), call.Arguments)
	}

	return response
}

func realText(r *live) {
	response := r.answer(r.request(system("You answer in one short sentence."), user("What is a pod in Kubernetes?")))
	require.NotEmpty(r, strings.TrimSpace(response.Text))
	require.Equal(r, llm.StopEnd, response.End.Reason)
}

// weather returns a tool that a model cannot do without.
func weather() llm.Tool {
	return llm.Tool{
		Name: "weather.read_thermometer", Description: "Reads the thermometer of a city. There is no other way to know a temperature.",
		Schema: json.RawMessage(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`),
	}
}

func realTool(r *live) {
	messages := []llm.Message{user("How warm is it in Brno now? Use the tool, then answer with the number that it gave.")}

	req := r.request(messages...)
	req.Tools = []llm.Tool{weather()}
	response := r.answer(req)
	require.NotEmpty(r, response.ToolCalls)
	require.Equal(r, llm.StopToolCalls, response.End.Reason)

	messages = append(messages, assistant(response))

	for _, call := range response.ToolCalls {
		require.Equal(r, weather().Name, call.Name)

		var arguments struct {
			City string `json:"city"`
		}

		require.NoError(r, json.Unmarshal([]byte(call.Arguments), &arguments))
		require.NotEmpty(r, arguments.City)

		messages = append(messages, result(call, `{"celsius": 31.7}`))
	}

	req.Messages = messages
	require.Contains(r, r.answer(req).Text, "31")
}

func realParallel(r *live) {
	req := r.request(user("Read the thermometers of Brno, Oslo and Quito: call the tool three times at once, in one answer."))
	req.Tools = []llm.Tool{weather()}

	response := r.answer(req)
	require.NotEmpty(r, response.ToolCalls)

	// A model may call the tool one at a time; the calls that it makes must be distinguishable, and are answered together.
	ids := map[string]bool{}
	req.Messages = append(req.Messages, assistant(response))

	for _, call := range response.ToolCalls {
		require.False(r, ids[call.ID], "two calls have the id %s", call.ID)

		ids[call.ID] = true

		req.Messages = append(req.Messages, result(call, "20 degrees"))
	}

	r.answer(req)
}

func realThinking(r *live) {
	if !r.has(FeatureThinking) {
		r.Skipf("%s shows no thinking", r.p.Model)
	}

	req := r.request(user("How many of the numbers from 1 to 60 are divisible by 3 or by 7? Think it through."))
	req.ReasoningEffort = r.p.Effort
	response := r.answer(req)
	require.NotEmpty(r, response.Thinking)
	require.NotEmpty(r, response.Text)

	if r.has(FeatureSignature) {
		require.NotNil(r, response.End.Signature)
	}

	req.Messages = append(req.Messages, assistant(response), user("And by both?"))
	require.NotEmpty(r, r.answer(req).Text)
}

func realSchema(r *live) {
	if !r.has(FeatureStructuredOutput) {
		r.Skipf("%s has no structured output", r.p.Name)
	}

	req := r.request(user("Rate this investigation from 0 to 100: \"It was the disk, I guess.\""))
	req.ResponseSchema = json.RawMessage(answerSchema)

	var rating struct {
		Score *int    `json:"score"`
		Why   *string `json:"why"`
	}

	require.NoError(r, json.Unmarshal([]byte(r.answer(req).Text), &rating))
	require.NotNil(r, rating.Score)
	require.NotNil(r, rating.Why)
}

func realLimit(r *live) {
	req := r.request(user("Write an essay of a thousand words on the history of lighthouses."))
	req.MaxOutputTokens = 64
	require.Equal(r, llm.StopMaxTokens, r.answer(req).End.Reason)
}

// realSchemas sends all odd schemas together: the API rejects the request if it rejects one of them.
func realSchemas(r *live) {
	req := r.request(user("Say hello. Call no tool."))

	for name, schema := range oddSchemas() {
		if strings.Contains(name, "references") {
			continue // APIs differ in which references they follow
		}

		req.Tools = append(req.Tools, llm.Tool{Name: name, Description: "Do not call this.", Schema: json.RawMessage(schema)})
	}

	r.answer(req)
}

func (r *live) fails(client llm.Client, req *llm.Request) *llm.Error {
	r.Helper()

	_, err := llm.Collect(client.Generate(r.ctx(), req), nil)
	require.Error(r, err)

	return llm.AsError(err)
}

func realWrongKey(r *live) {
	const wrong = "sk-wrong-key-of-a-test"

	e := r.fails(r.p.New(r.T, wrong), r.request(user("Hello.")))
	require.Equal(r, llm.ClassAuth, e.Class, "%+v", e)
	require.False(r, e.Retryable)
	require.NotZero(r, e.Status)
	require.NotContains(r, e.Error(), wrong)
}

func realNoModel(r *live) {
	req := r.request(user("Hello."))
	req.Model = "no-such-model-of-tarsy"

	e := r.fails(r.client, req)
	require.Contains(r, []llm.Class{llm.ClassInvalid, llm.ClassAuth}, e.Class, "%+v", e)
	require.False(r, e.Retryable)
}

func realCancel(r *live) {
	changed := errors.New("the operator changed their mind")
	ctx, cancel := context.WithCancelCause(r.ctx())
	r.Cleanup(func() { cancel(nil) })

	_, err := llm.Collect(r.client.Generate(ctx, r.request(user("Count from 1 to 500 in words."))), func(llm.Chunk) error {
		cancel(changed)

		return nil
	})
	require.ErrorIs(r, err, changed)
}
