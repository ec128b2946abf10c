package sdktest_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const brokenText = "one two three four"

// why sends a request with the official client, whole or streamed, and returns the stop reason, or "" without an answer.
func why(t *testing.T, client sdk.Client, stream bool) (sdk.BetaStopReason, error) {
	t.Helper()

	message, err := send(t, client, stream, betaParams(sdk.NewBetaUserMessage(sdk.NewBetaTextBlock("Why?"))))
	if message == nil {
		return "", err
	}

	return message.StopReason, err
}

func TestOfficialClientReportsEveryFault(t *testing.T) {
	t.Parallel()

	for _, kind := range script.FaultKinds() {
		for _, after := range []int{0, 2} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s after %d, stream %t", kind, after, stream), func(t *testing.T) {
					t.Parallel()

					s := serve(t, script.Reply{Text: brokenText, Fault: &script.Fault{Kind: kind, AfterChunks: after}})
					reason, err := why(t, s.official(), stream)
					require.Empty(t, reason, "no answer that broke off says that it is whole")

					switch {
					case kind == script.FaultTruncate && stream:
						require.NoError(t, err, "the stream ends in good order, without its end")
					case kind == script.FaultRateLimit:
						requireFailure(t, err, http.StatusTooManyRequests, sdk.ErrorTypeRateLimitError, "scripted fault: 429")
					case kind == script.FaultServerError:
						requireFailure(t, err, http.StatusInternalServerError, sdk.ErrorTypeAPIError, "scripted fault: 500")
					default:
						require.Error(t, err)
					}
				})
			}
		}
	}
}

// requireFailure checks an API error. An error in the middle of a stream has the status of the stream.
func requireFailure(t *testing.T, err error, status int, kind sdk.ErrorType, message string) {
	t.Helper()

	var failure *sdk.Error

	require.ErrorAs(t, err, &failure)
	require.Equal(t, kind, failure.Type())
	require.ErrorContains(t, err, message)
	require.NotEmpty(t, failure.RequestID)

	if failure.StatusCode != http.StatusOK {
		require.Equal(t, status, failure.StatusCode)
	}
}

func TestOfficialClientReportsEveryError(t *testing.T) {
	t.Parallel()

	const overloaded = 529

	for _, test := range []struct {
		err  llm.Error
		kind sdk.ErrorType
	}{
		{llm.Error{Status: http.StatusBadRequest, Class: llm.ClassContextTooLong}, sdk.ErrorTypeInvalidRequestError},
		{llm.Error{Status: http.StatusUnauthorized, Class: llm.ClassAuth}, sdk.ErrorTypeAuthenticationError},
		{llm.Error{Status: http.StatusForbidden, Class: llm.ClassAuth}, sdk.ErrorTypePermissionError},
		{llm.Error{Status: http.StatusNotFound, Class: llm.ClassInvalid}, sdk.ErrorTypeNotFoundError},
		{llm.Error{Status: http.StatusTooManyRequests, Class: llm.ClassQuota, Retryable: true, RetryAfter: 2 * time.Second}, sdk.ErrorTypeRateLimitError},
		{llm.Error{Status: http.StatusPaymentRequired, Class: llm.ClassQuota}, sdk.ErrorTypeBillingError},
		{llm.Error{Status: http.StatusGatewayTimeout, Class: llm.ClassTransient, Retryable: true}, sdk.ErrorTypeTimeoutError},
		{llm.Error{Status: overloaded, Class: llm.ClassTransient, Retryable: true}, sdk.ErrorTypeOverloadedError},
	} {
		test.err.Message = "it broke"

		for _, after := range []int{0, 2} {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s after %d, stream %t", test.kind, after, stream), func(t *testing.T) {
					t.Parallel()

					broken := test.err
					s := serve(t, script.Reply{Text: brokenText, AfterChunks: after, Err: &broken})
					reason, err := why(t, s.official(), stream)
					require.Empty(t, reason)
					requireFailure(t, err, test.err.Status, test.kind, "it broke")
				})
			}
		}
	}
}

// An answer that the provider withholds ends normally, with the stop reason refusal.
func TestOfficialClientReportsWithheldAnswer(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Text: brokenText, AfterChunks: 2, Err: &llm.Error{Class: llm.ClassSafety, Message: "blocked"}})
	reason, err := why(t, s.official(), true)
	require.NoError(t, err)
	require.Equal(t, sdk.BetaStopReasonRefusal, reason)
}
