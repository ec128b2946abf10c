package sdktest_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// ask makes a call with the official library, and returns how the answer ended, or "" if it did not.
type ask func(t *testing.T, client sdk.Client) (end string, err error)

func askChat(t *testing.T, client sdk.Client) (string, error) {
	t.Helper()

	completion, err := client.Chat.Completions.New(t.Context(), chatParams())
	if err != nil {
		return "", err
	}

	return completion.Choices[0].FinishReason, nil
}

func askChatStream(t *testing.T, client sdk.Client) (string, error) {
	t.Helper()

	stream := client.Chat.Completions.NewStreaming(t.Context(), chatParams())
	end := ""

	for stream.Next() {
		for _, choice := range stream.Current().Choices {
			end += choice.FinishReason
		}
	}

	return end, stream.Err()
}

func askResponse(t *testing.T, client sdk.Client) (string, error) {
	t.Helper()

	response, err := client.Responses.New(t.Context(), responseParams())
	if err != nil {
		return "", err
	}

	return string(response.Status), nil
}

func askResponseStream(t *testing.T, client sdk.Client) (string, error) {
	t.Helper()

	stream := client.Responses.NewStreaming(t.Context(), responseParams())
	end := ""

	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseCompletedEvent:
			end = string(e.Response.Status)
		case responses.ResponseIncompleteEvent:
			end = string(e.Response.Status) + " " + e.Response.IncompleteDetails.Reason
		case responses.ResponseFailedEvent:
			// The API reports it like this; the library leaves it to the caller.
			return "", fmt.Errorf("%s %s: %s", e.Response.Status, e.Response.Error.Code, e.Response.Error.Message)
		}
	}

	return end, stream.Err()
}

// asks returns the operations, whole and streamed.
func asks() map[string]ask {
	return map[string]ask{"chat": askChat, "chat stream": askChatStream, "response": askResponse, "response stream": askResponseStream}
}

const brokenText = "one two three four"

// isStream reports whether an operation of asks streams.
func isStream(name string) bool { return name == "chat stream" || name == "response stream" }

func TestOfficialLibraryReportsEveryFault(t *testing.T) {
	t.Parallel()

	for _, kind := range script.FaultKinds() {
		for _, after := range []int{0, 2} {
			for name, call := range asks() {
				t.Run(fmt.Sprintf("%s after %d, %s", kind, after, name), func(t *testing.T) {
					t.Parallel()

					s := serve(t, script.Reply{Text: brokenText, Fault: &script.Fault{Kind: kind, AfterChunks: after}})
					end, err := call(t, s.sdk())
					require.Empty(t, end, "no answer that broke off says that it is whole")

					switch {
					case kind == script.FaultTruncate && isStream(name):
						require.NoError(t, err, "the stream ends in good order, without its end")
					case kind == script.FaultRateLimit:
						requireFailure(t, err, after == 0 || !isStream(name), http.StatusTooManyRequests, "rate_limit_exceeded", "scripted fault: 429")
					case kind == script.FaultServerError:
						requireFailure(t, err, after == 0 || !isStream(name), http.StatusInternalServerError, "internal_error", "scripted fault: 500")
					default:
						require.Error(t, err)
					}
				})
			}
		}
	}
}

// requireFailure checks an API error: instead of an answer it has a status, in the middle of one it does not.
func requireFailure(t *testing.T, err error, instead bool, status int, code, message string) {
	t.Helper()
	require.Error(t, err)

	failure, ok := errors.AsType[*sdk.Error](err)
	require.Equal(t, instead, ok, "%v", err)

	if !instead {
		require.ErrorContains(t, err, message)
		require.ErrorContains(t, err, code)

		return
	}

	require.Equal(t, status, failure.StatusCode)
	require.Equal(t, code, failure.Code)
	require.Equal(t, message, failure.Message)
}

func TestOfficialLibraryReportsEveryError(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		err  llm.Error
		code string
		kind string
	}{
		{llm.Error{Status: http.StatusBadRequest, Class: llm.ClassContextTooLong}, "context_length_exceeded", "invalid_request_error"},
		{llm.Error{Status: http.StatusUnauthorized, Class: llm.ClassAuth}, "invalid_api_key", "invalid_request_error"},
		{llm.Error{Status: http.StatusForbidden, Class: llm.ClassAuth, Code: "country"}, "country", "permission_error"},
		{llm.Error{Status: http.StatusNotFound, Class: llm.ClassInvalid, Code: "model_not_found"}, "model_not_found", "invalid_request_error"},
		{llm.Error{Status: http.StatusTooManyRequests, Class: llm.ClassQuota, Retryable: true, RetryAfter: 2 * time.Second}, "rate_limit_exceeded", "requests"},
		{llm.Error{Status: http.StatusTooManyRequests, Class: llm.ClassQuota}, "insufficient_quota", "insufficient_quota"},
		{llm.Error{Status: http.StatusServiceUnavailable, Class: llm.ClassTransient, Retryable: true, Code: "overloaded"}, "overloaded", "server_error"},
	} {
		test.err.Message = "it broke"

		for _, after := range []int{0, 2} {
			for name, call := range asks() {
				t.Run(fmt.Sprintf("%s after %d, %s", test.code, after, name), func(t *testing.T) {
					t.Parallel()

					broken := test.err
					s := serve(t, script.Reply{Text: brokenText, AfterChunks: after, Err: &broken})
					end, err := call(t, s.sdk())
					require.Empty(t, end)
					requireFailure(t, err, after == 0 || !isStream(name), test.err.Status, test.code, "it broke")

					if failure, ok := errors.AsType[*sdk.Error](err); ok {
						require.Equal(t, test.kind, failure.Type)
						require.Equal(t, test.err.RetryAfter > 0, failure.Response.Header.Get("Retry-After") == "2")
					}
				})
			}
		}
	}
}

// An answer that the provider withholds ends with the reason that each API uses.
func TestOfficialLibraryReportsWithheldAnswers(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{"chat stream": "content_filter", "response stream": "incomplete content_filter"} {
		s := serve(t, script.Reply{Text: brokenText, AfterChunks: 2, Err: &llm.Error{Class: llm.ClassSafety, Message: "blocked"}})
		end, err := asks()[name](t, s.sdk())
		require.NoError(t, err)
		require.Equal(t, want, end)
	}
}
