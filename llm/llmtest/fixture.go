package llmtest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// patience is how long a case waits for something that must happen; only a client that breaks the contract exceeds it.
var patience = slowness.Scale(30 * time.Second)

// key authenticates clients. No error may contain it.
const key = "sk-virtual-5ecret-0123456789abcdef"

// fixture is one case: a script, its server, and a client for it.
type fixture struct {
	*testing.T
	p      Provider
	script *script.Script
	client llm.Client
	// closed receives a value for each closed connection; nil if the provider has no Handler.
	closed chan struct{}
}

func newFixture(t *testing.T, p Provider, options ...script.Options) *fixture {
	t.Helper()

	f := &fixture{T: t, p: p}
	f.restart(options...)

	return f
}

// restart replaces the script and the server by new ones with other options.
func (f *fixture) restart(options ...script.Options) {
	f.Helper()

	var opts script.Options
	if len(options) > 0 {
		opts = options[0]
	}

	f.script = script.New(opts)

	serve := f.p.Serve
	if f.p.Handler != nil {
		serve = f.serveHTTP
	}

	f.client = f.p.New(f.T, serve(f.T, f.script), key)
}

// serveHTTP starts an HTTP server with the provider's handler.
func (f *fixture) serveHTTP(t *testing.T, s *script.Script) string {
	t.Helper()

	closed := make(chan struct{}, 64)
	f.closed = closed

	server := httptest.NewUnstartedServer(f.p.Handler(s))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			select {
			case closed <- struct{}{}:
			default:
			}
		}
	}
	server.Start()
	t.Cleanup(func() {
		// A client that keeps its connection fails its own case, but does not block the others.
		server.CloseClientConnections()
		server.Close()
	})

	return server.URL
}

// needs skips a case if the provider's API lacks a feature.
func (f *fixture) needs(features ...Feature) {
	f.Helper()

	for _, feature := range features {
		if !f.p.has(feature) {
			f.Skipf("the API of %s has no %s", f.p.Name, feature)
		}
	}
}

// request returns a request to answer messages; none means a short question.
func (f *fixture) request(messages ...llm.Message) *llm.Request {
	if len(messages) == 0 {
		messages = []llm.Message{user("What is wrong with the pod?")}
	}

	return &llm.Request{
		SessionID: "session-1", ExecutionID: "execution-1", Agent: "Conformance", Purpose: "iteration",
		Provider: f.p.Name, Model: f.p.Model, Messages: messages,
	}
}

// ctx returns a context that ends with the case, or when something that must happen did not.
func (f *fixture) ctx() context.Context {
	ctx, cancel := context.WithTimeoutCause(f.Context(), patience, errors.New("the client did not deliver what was sent"))
	f.Cleanup(cancel)

	return ctx
}

// generate makes a call, and also returns the received chunks.
func (f *fixture) generate(req *llm.Request) (llm.Response, []llm.Chunk, error) {
	var chunks []llm.Chunk

	response, err := llm.Collect(f.client.Generate(f.ctx(), req), func(chunk llm.Chunk) error {
		chunks = append(chunks, chunk)

		return nil
	})

	return response, chunks, err
}

// answer makes a call that must succeed: with one usage chunk, and with one end chunk, which is the last.
func (f *fixture) answer(req *llm.Request) llm.Response {
	f.Helper()

	response, chunks, err := f.generate(req)
	require.NoError(f, err)
	require.NotEmpty(f, chunks, "an answer has an end at least")

	var usages, ends int

	for _, chunk := range chunks {
		switch c := chunk.(type) {
		case llm.UsageChunk:
			usages++
		case llm.EndChunk:
			ends++
		case llm.TextChunk:
			require.NotEmpty(f, c.Text, "an empty piece of text")
		case llm.ThinkingChunk:
			require.NotEmpty(f, c.Text, "an empty piece of thinking")
		}
	}

	require.Equal(f, 1, usages, "the usage comes once: %v", chunks)
	require.Equal(f, 1, ends, "the end comes once: %v", chunks)
	require.IsType(f, llm.EndChunk{}, chunks[len(chunks)-1], "the end comes last")

	return response
}

// seen returns request number i, from zero, as the script saw it.
func (f *fixture) seen(i int) llm.Request {
	f.Helper()

	calls := f.script.Calls()
	require.Greater(f, len(calls), i, "the server saw no such request")

	return calls[i].Request
}

// receive waits for something from ch.
func receive[T any](f *fixture, ch <-chan T, what string) T {
	f.Helper()

	var value T

	select {
	case value = <-ch:
	case <-f.ctx().Done():
		f.Fatalf("timed out waiting for %s", what)
	}

	return value
}

// eventually waits until another process or goroutine has done something.
func (f *fixture) eventually(done func() bool, what string) {
	f.Helper()
	require.Eventually(f, done, patience, time.Millisecond, what)
}

func user(text string) llm.Message { return llm.Message{Role: llm.RoleUser, Content: text} }

func system(text string) llm.Message { return llm.Message{Role: llm.RoleSystem, Content: text} }

// assistant returns an answer as a message to send back in the conversation.
func assistant(response llm.Response) llm.Message {
	return llm.Message{
		Role: llm.RoleAssistant, Content: response.Text, ToolCalls: response.ToolCalls, Signature: response.End.Signature,
	}
}

func result(call llm.ToolCall, content string) llm.Message {
	return llm.Message{Role: llm.RoleTool, ToolCallID: call.ID, ToolName: call.Name, Content: content}
}
