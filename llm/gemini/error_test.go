package gemini_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/gemini"
)

// failed returns an error body as Google writes it.
func failed(code, status, message string, details ...string) string {
	return "{\n  \"error\": {\n    \"code\": " + code + ",\n    \"message\": \"" + message + "\",\n    \"status\": \"" + status + "\",\n    \"details\": [" +
		strings.Join(details, ",") + "]\n  }\n}\n"
}

func info(reason string) string {
	return `{"@type": "type.googleapis.com/google.rpc.ErrorInfo","reason": "` + reason + `","domain": "googleapis.com"}`
}

func TestErrorsAreClassified(t *testing.T) {
	t.Parallel()

	const (
		minute = `{"@type": "type.googleapis.com/google.rpc.QuotaFailure","violations": [{"quotaMetric": "m","quotaId": "GenerateRequestsPerMinutePerProjectPerModel-FreeTier"}]}`
		day    = `{"@type": "type.googleapis.com/google.rpc.QuotaFailure","violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue": "50"}]}`
		retry  = `{"@type": "type.googleapis.com/google.rpc.RetryInfo","retryDelay": "34.5s"}`
		plan   = "You exceeded your current quota, please check your plan and billing details."
	)

	for name, test := range map[string]struct {
		status int
		header map[string]string
		body   string
		want   llm.Error
	}{
		"a wrong key is a 400": {
			400, nil, failed("400", "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", info("API_KEY_INVALID")),
			llm.Error{Class: llm.ClassAuth, Code: "API_KEY_INVALID", Message: "API key not valid. Please pass a valid API key."},
		},
		"a key for something else": {
			400, nil, failed("400", "INVALID_ARGUMENT", "Requests are blocked.", info("API_KEY_SERVICE_BLOCKED")),
			llm.Error{Class: llm.ClassAuth, Code: "API_KEY_SERVICE_BLOCKED", Message: "Requests are blocked."},
		},
		"a key that is over": {
			400, nil, failed("400", "INVALID_ARGUMENT", "API key expired. Please renew the API key."),
			llm.Error{Class: llm.ClassAuth, Code: "INVALID_ARGUMENT", Message: "API key expired. Please renew the API key."},
		},
		"no key": {403, nil, failed("403", "PERMISSION_DENIED", "unregistered caller"), llm.Error{Class: llm.ClassAuth, Code: "PERMISSION_DENIED", Message: "unregistered caller"}},
		"no token": {
			401, nil, failed("401", "UNAUTHENTICATED", "no token", info("ACCESS_TOKEN_EXPIRED")),
			llm.Error{Class: llm.ClassAuth, Code: "ACCESS_TOKEN_EXPIRED", Message: "no token"},
		},
		"a limit of a minute": {
			429, nil, failed("429", "RESOURCE_EXHAUSTED", plan, minute, retry),
			llm.Error{Class: llm.ClassQuota, Code: "RESOURCE_EXHAUSTED", Message: plan, Retryable: true, RetryAfter: 34500 * time.Millisecond},
		},
		"a limit with a header": {
			429, map[string]string{"Retry-After": "7"}, failed("429", "RESOURCE_EXHAUSTED", plan),
			llm.Error{Class: llm.ClassQuota, Code: "RESOURCE_EXHAUSTED", Message: plan, Retryable: true, RetryAfter: 7 * time.Second},
		},
		"a limit of a day": {
			429, nil, failed("429", "RESOURCE_EXHAUSTED", plan, day, retry),
			llm.Error{Class: llm.ClassQuota, Code: "RESOURCE_EXHAUSTED", Message: plan, RetryAfter: 34500 * time.Millisecond},
		},
		"no billing": {
			403, nil, failed("403", "PERMISSION_DENIED", "This API method requires billing to be enabled.", info("BILLING_DISABLED")),
			llm.Error{Class: llm.ClassQuota, Code: "BILLING_DISABLED", Message: "This API method requires billing to be enabled."},
		},
		"no money": {
			429, nil, failed("429", "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted."),
			llm.Error{Class: llm.ClassQuota, Code: "RESOURCE_EXHAUSTED", Message: "Your prepayment credits are depleted."},
		},
		"too long": {
			400, nil, failed("400", "INVALID_ARGUMENT", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."),
			llm.Error{Class: llm.ClassContextTooLong, Code: "INVALID_ARGUMENT", Message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."},
		},
		"invalid":     {400, nil, failed("400", "INVALID_ARGUMENT", "no such field"), llm.Error{Class: llm.ClassInvalid, Code: "INVALID_ARGUMENT", Message: "no such field"}},
		"no model":    {404, nil, failed("404", "NOT_FOUND", "models/x is not found"), llm.Error{Class: llm.ClassInvalid, Code: "NOT_FOUND", Message: "models/x is not found"}},
		"internal":    {500, nil, failed("500", "INTERNAL", "oops"), llm.Error{Class: llm.ClassTransient, Code: "INTERNAL", Message: "oops", Retryable: true}},
		"overloaded":  {503, nil, failed("503", "UNAVAILABLE", "overloaded"), llm.Error{Class: llm.ClassTransient, Code: "UNAVAILABLE", Message: "overloaded", Retryable: true}},
		"too slow":    {504, nil, failed("504", "DEADLINE_EXCEEDED", "late"), llm.Error{Class: llm.ClassTransient, Code: "DEADLINE_EXCEEDED", Message: "late", Retryable: true}},
		"cancelled":   {499, nil, failed("499", "CANCELLED", "gone"), llm.Error{Class: llm.ClassTransient, Code: "CANCELLED", Message: "gone", Retryable: true}},
		"a proxy":     {502, nil, "<html>bad gateway</html>", llm.Error{Class: llm.ClassTransient, Message: "<html>bad gateway</html>", Retryable: true}},
		"no body":     {529, nil, "", llm.Error{Class: llm.ClassTransient, Retryable: true}},
		"other JSON":  {400, nil, `{"detail":"x"}`, llm.Error{Class: llm.ClassInvalid, Message: `{"detail":"x"}`}},
		"a lying one": {503, nil, failed("200", "OK", "fine"), llm.Error{Class: llm.ClassTransient, Code: "OK", Message: "fine", Retryable: true}},
		"a blocked one": {
			400, nil, failed("400", "INVALID_ARGUMENT", "blocked", info("PROHIBITED_CONTENT")),
			llm.Error{Class: llm.ClassSafety, Code: "PROHIBITED_CONTENT", Message: "blocked"},
		},
		"the key is hidden": {
			403, nil, failed("403", "PERMISSION_DENIED", "key "+key+" may not"), llm.Error{Class: llm.ClassAuth, Code: "PERMISSION_DENIED", Message: "key [hidden] may not"},
		},
		"a long one is cut": {
			500, nil, strings.Repeat("ü", 1<<20), llm.Error{Class: llm.ClassTransient, Message: strings.Repeat("ü", 500) + "…", Retryable: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := failing(t, test.status, test.header, test.body)
			_, err := w.generate(t, ask())
			require.Error(t, err)

			e := *llm.AsError(err)
			test.want.Status = test.status
			e.Hint = ""
			require.Equal(t, test.want, e)
			require.Len(t, w.requests, 1, "the SDK tries nothing again")
		})
	}
}

func TestModelNameUnusableInPathIsRefused(t *testing.T) {
	t.Parallel()

	for _, model := range []string{"", "../secrets", "a?b"} {
		w := answering(t, done)
		req := ask()
		req.Model = model
		_, err := w.generate(t, req)
		require.Equal(t, llm.ClassInvalid, llm.AsError(err).Class, model)
		require.Empty(t, w.requests)
	}
}

func TestEndlessErrorBodyIsReadInPart(t *testing.T) {
	t.Parallel()

	w := serve(t, func(rw http.ResponseWriter, r *http.Request) {
		rw.WriteHeader(http.StatusServiceUnavailable)

		for r.Context().Err() == nil {
			_, _ = io.WriteString(rw, strings.Repeat("busy ", 1000))
		}
	})
	_, err := w.generate(t, ask())
	require.Equal(t, http.StatusServiceUnavailable, llm.AsError(err).Status)
	require.ErrorContains(t, err, "busy")
}

func TestCancellationTakesPrecedenceOverServerError(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancelCause(t.Context())
	changed := errors.New("changed my mind")
	client := newClient(t, gemini.Config{APIKey: key, HTTPClient: &http.Client{
		Transport: roundTripper(func(*http.Request) (*http.Response, error) {
			cancel(changed)

			return &http.Response{StatusCode: http.StatusInternalServerError, Header: http.Header{}, Body: http.NoBody}, nil
		}),
	}})
	_, err := llm.Collect(client.Generate(ctx, ask()), nil)
	require.ErrorIs(t, err, changed)
}
