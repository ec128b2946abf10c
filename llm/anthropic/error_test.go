package anthropic_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/anthropic"
)

func failureBody(kind, message string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"` + message + `"},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`
}

func TestAPIErrorsAreClassified(t *testing.T) {
	t.Parallel()

	type failure = reply

	for name, test := range map[string]struct {
		reply failure
		want  llm.Error
	}{
		"key":          {failure{status: 401, body: failureBody("authentication_error", "invalid x-api-key")}, llm.Error{Class: llm.ClassAuth, Status: 401, Code: "authentication_error", Message: "invalid x-api-key"}},
		"permission":   {failure{status: 403, body: failureBody("permission_error", "no")}, llm.Error{Class: llm.ClassAuth, Status: 403, Code: "permission_error", Message: "no"}},
		"model":        {failure{status: 404, body: failureBody("not_found_error", "model: claude-9")}, llm.Error{Class: llm.ClassInvalid, Status: 404, Code: "not_found_error", Message: "model: claude-9"}},
		"invalid":      {failure{status: 400, body: failureBody("invalid_request_error", "max_tokens: Field required")}, llm.Error{Class: llm.ClassInvalid, Status: 400, Code: "invalid_request_error", Message: "max_tokens: Field required"}},
		"rate":         {failure{status: 429, header: map[string]string{"Retry-After": "12"}, body: failureBody("rate_limit_error", "slow down")}, llm.Error{Class: llm.ClassQuota, Status: 429, Code: "rate_limit_error", Message: "slow down", Retryable: true, RetryAfter: 12 * time.Second}},
		"no retry":     {failure{status: 429, header: map[string]string{"X-Should-Retry": "false"}, body: failureBody("rate_limit_error", "slow down")}, llm.Error{Class: llm.ClassQuota, Status: 429, Code: "rate_limit_error", Message: "slow down"}},
		"billing":      {failure{status: 402, body: failureBody("billing_error", "pay")}, llm.Error{Class: llm.ClassQuota, Status: 402, Code: "billing_error", Message: "pay"}},
		"credit":       {failure{status: 400, body: failureBody("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")}, llm.Error{Class: llm.ClassQuota, Status: 400, Code: "invalid_request_error", Message: "Your credit balance is too low to access the Anthropic API."}},
		"overloaded":   {failure{status: 529, body: failureBody("overloaded_error", "Overloaded")}, llm.Error{Class: llm.ClassTransient, Status: 529, Code: "overloaded_error", Message: "Overloaded", Retryable: true}},
		"broken":       {failure{status: 500, body: failureBody("api_error", "Internal server error")}, llm.Error{Class: llm.ClassTransient, Status: 500, Code: "api_error", Message: "Internal server error", Retryable: true}},
		"too long":     {failure{status: 400, body: failureBody("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")}, llm.Error{Class: llm.ClassContextTooLong, Status: 400, Code: "invalid_request_error", Message: "prompt is too long: 208310 tokens > 200000 maximum"}},
		"no room":      {failure{status: 400, body: failureBody("invalid_request_error", "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000")}, llm.Error{Class: llm.ClassContextTooLong, Status: 400, Code: "invalid_request_error", Message: "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000"}},
		"too large":    {failure{status: 413, body: failureBody("request_too_large", "Request exceeds the maximum size")}, llm.Error{Class: llm.ClassContextTooLong, Status: 413, Code: "request_too_large", Message: "Request exceeds the maximum size"}},
		"filter":       {failure{status: 400, body: failureBody("invalid_request_error", "Output blocked by content filtering policy")}, llm.Error{Class: llm.ClassSafety, Status: 400, Code: "invalid_request_error", Message: "Output blocked by content filtering policy"}},
		"gateway":      {failure{status: 502, body: "<html>Bad Gateway</html>"}, llm.Error{Class: llm.ClassTransient, Status: 502, Message: "<html>Bad Gateway</html>", Retryable: true}},
		"silent":       {failure{status: 503}, llm.Error{Class: llm.ClassTransient, Status: 503, Message: "Service Unavailable", Retryable: true}},
		"in stream":    {failure{body: sse(start, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)}, llm.Error{Class: llm.ClassTransient, Code: "overloaded_error", Message: "Overloaded", Retryable: true}},
		"rate later":   {failure{body: sse(start, `{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}`)}, llm.Error{Class: llm.ClassQuota, Code: "rate_limit_error", Message: "slow down", Retryable: true}},
		"refusal":      {failure{body: sse(start, `{"type":"message_delta","delta":{"stop_reason":"refusal","stop_sequence":null,"stop_details":{"type":"refusal","category":"cyber","explanation":"not that"}},"usage":{"output_tokens":1}}`, stop)}, llm.Error{Class: llm.ClassSafety, Code: "refusal", Message: "the model refused to answer: not that"}},
		"full context": {failure{body: sse(start, ended("model_context_window_exceeded"), stop)}, llm.Error{Class: llm.ClassContextTooLong, Code: "model_context_window_exceeded", Message: "the conversation and its answer fill the model's context"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chunks, err := newAPI(t, test.reply).generate(question())
			require.Empty(t, chunks)

			e, ok := errors.AsType[*llm.Error](err)
			require.True(t, ok, "%v", err)

			e.Hint = ""
			require.Equal(t, test.want, *e)
		})
	}
}

func TestBrokenStreamIsRetryable(t *testing.T) {
	t.Parallel()

	text := []string{
		start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hel"}}`,
	}
	with := func(more ...string) string { return sse(slices.Concat(text, more)...) }

	for name, body := range map[string]string{
		"nothing":                  "",
		"no end":                   with(`{"type":"content_block_stop","index":0}`, ended("end_turn")),
		"an end without a reason":  with(`{"type":"content_block_stop","index":0}`, stop),
		"an end in an open block":  with(ended("end_turn"), stop),
		"no JSON":                  with(`{"type":"content_block_delta","index":0,`),
		"a piece of no block":      with(`{"type":"content_block_delta","index":7,"delta":{"type":"text_delta","text":"x"}}`),
		"the end of no block":      with(`{"type":"content_block_stop","index":7}`),
		"an unnamed broken event":  with() + "data: {oops\n\n",
		"an event that is cut":     with() + "event: content_block_delta\ndata: {\"type\":\"content_bl",
		"a page instead of events": "<html>Welcome</html>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chunks, err := newAPI(t, reply{body: body}).generate(question())
			e, ok := errors.AsType[*llm.Error](err)
			require.True(t, ok, "%v", err)
			require.Equal(t, llm.ClassTransient, e.Class)
			require.True(t, e.Retryable)
			require.LessOrEqual(t, len(chunks), 1, "%v", chunks)
		})
	}
}

func TestErrorHidesKeyAndTruncatesLongBody(t *testing.T) {
	t.Parallel()

	_, err := newAPI(t, reply{status: 400, body: failureBody("invalid_request_error", "your sk-ant-secret "+strings.Repeat("ü", 10000))}).generate(question())
	require.NotContains(t, err.Error(), "sk-ant-secret")
	require.Contains(t, err.Error(), "your [hidden] ü")
	require.Less(t, len([]rune(err.Error())), 700)
}

func TestEndlessErrorBodyIsReadInPart(t *testing.T) {
	t.Parallel()

	var written atomic.Int64

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)

		w.WriteHeader(http.StatusBadRequest)

		for r.Context().Err() == nil && written.Load() < 1<<30 {
			n, _ := io.WriteString(w, strings.Repeat("token-of-the-gateway ", 1000))
			written.Add(int64(n))
		}
	}))
	t.Cleanup(server.Close)

	client, err := anthropic.New(anthropic.Config{BaseURL: server.URL, Headers: map[string]string{"X-Gateway": "token-of-the-gateway"}})
	require.NoError(t, err)

	_, err = llm.Collect(client.Generate(t.Context(), question()), nil)
	require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class)
	require.ErrorContains(t, err, "[hidden] [hidden]")
	require.NotContains(t, err.Error(), "token-of")
	server.Close()
	require.Less(t, written.Load(), int64(64<<20))
}

func TestCancelClosesConnection(t *testing.T) {
	t.Parallel()

	for name, leave := range map[string]func(cancel context.CancelCauseFunc) (goOn bool){
		"cancelled":       func(cancel context.CancelCauseFunc) bool { cancel(errEnough); return true },
		"read no further": func(context.CancelCauseFunc) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			left := make(chan struct{})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				// The server notices that the caller leaves only after it has read the body.
				_, _ = io.Copy(io.Discard, r.Body)
				_, _ = io.WriteString(w, sse(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Hello"}}`))
				_ = http.NewResponseController(w).Flush()

				<-r.Context().Done()
				close(left)
			}))
			t.Cleanup(server.Close)

			transport := &http.Transport{}
			t.Cleanup(transport.CloseIdleConnections)

			client, err := anthropic.New(anthropic.Config{BaseURL: server.URL, HTTPClient: &http.Client{Transport: transport}})
			require.NoError(t, err)

			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)

			var failure error

			for chunk, err := range client.Generate(ctx, question()) {
				if failure = err; err != nil {
					break
				}

				require.Equal(t, llm.TextChunk{Text: "Hello"}, chunk)

				if !leave(cancel) {
					break
				}
			}

			<-left

			if name == "cancelled" {
				require.Equal(t, errEnough, failure)
			} else {
				require.NoError(t, failure)
			}
		})
	}
}

var errEnough = errors.New("enough")
