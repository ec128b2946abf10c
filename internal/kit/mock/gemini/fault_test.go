package gemini_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const brokenText = "one two three four"

// finish sends a request with Google's client, whole or streamed, and returns the finish reason, or "" if there is none.
func finish(t *testing.T, s *server, stream bool) (genai.FinishReason, error) {
	t.Helper()

	models := sdk(t, s, genai.BackendGeminiAPI).Models
	if !stream {
		whole, err := models.GenerateContent(t.Context(), "gemini-2.5-pro", genai.Text("Why?"), nil)
		if err != nil {
			return "", err
		}

		return whole.Candidates[0].FinishReason, nil
	}

	var reason genai.FinishReason

	for piece, err := range models.GenerateContentStream(t.Context(), "gemini-2.5-pro", genai.Text("Why?"), nil) {
		if err != nil {
			return reason, err
		}

		reason += piece.Candidates[0].FinishReason
	}

	return reason, nil
}

func TestOfficialSDKReportsEveryFault(t *testing.T) {
	t.Parallel()

	for _, kind := range script.FaultKinds() {
		for _, after := range []int{0, 2} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s after %d, stream %t", kind, after, stream), func(t *testing.T) {
					t.Parallel()

					s := serve(t, script.Reply{Text: brokenText, Fault: &script.Fault{Kind: kind, AfterChunks: after}})
					reason, err := finish(t, s, stream)
					require.Empty(t, reason, "no answer that broke off says that it is whole")

					switch {
					case kind == script.FaultTruncate && stream:
						require.NoError(t, err, "the stream ends in good order, without its end")
					case kind == script.FaultRateLimit:
						requireFailure(t, err, http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", "scripted fault: 429")
					case kind == script.FaultServerError:
						requireFailure(t, err, http.StatusInternalServerError, "INTERNAL", "scripted fault: 500")
					default:
						require.Error(t, err)
					}
				})
			}
		}
	}
}

func requireFailure(t *testing.T, err error, code int, status, message string) {
	t.Helper()

	var failure genai.APIError

	require.ErrorAs(t, err, &failure)
	require.Equal(t, code, failure.Code)
	require.Equal(t, status, failure.Status)
	require.Equal(t, message, failure.Message)
}

func TestOfficialSDKReportsEveryError(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		err    llm.Error
		status string
	}{
		{llm.Error{Status: http.StatusBadRequest, Class: llm.ClassContextTooLong}, "INVALID_ARGUMENT"},
		{llm.Error{Status: http.StatusUnauthorized, Class: llm.ClassAuth}, "UNAUTHENTICATED"},
		{llm.Error{Status: http.StatusForbidden, Class: llm.ClassAuth}, "PERMISSION_DENIED"},
		{llm.Error{Status: http.StatusNotFound, Class: llm.ClassInvalid}, "NOT_FOUND"},
		{llm.Error{Status: http.StatusTooManyRequests, Class: llm.ClassQuota, Retryable: true}, "RESOURCE_EXHAUSTED"},
		{llm.Error{Status: http.StatusServiceUnavailable, Class: llm.ClassTransient, Retryable: true}, "UNAVAILABLE"},
		{llm.Error{Status: http.StatusGatewayTimeout, Class: llm.ClassTransient, Retryable: true}, "DEADLINE_EXCEEDED"},
	} {
		test.err.Message = "it broke"

		for _, after := range []int{0, 2} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s after %d, stream %t", test.status, after, stream), func(t *testing.T) {
					t.Parallel()

					broken := test.err
					s := serve(t, script.Reply{Text: brokenText, AfterChunks: after, Err: &broken})
					reason, err := finish(t, s, stream)
					require.Empty(t, reason)
					requireFailure(t, err, test.err.Status, test.status, "it broke")
				})
			}
		}
	}
}

// An answer that the provider withholds ends normally, with the finish reason.
func TestOfficialSDKReportsWithheldAnswer(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: brokenText, AfterChunks: 2, Err: &llm.Error{Class: llm.ClassSafety, Message: "blocked"}})
	reason, err := finish(t, s, true)
	require.NoError(t, err)
	require.Equal(t, genai.FinishReasonSafety, reason)
}
