package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

func TestHTTPStatusIsClassified(t *testing.T) {
	t.Parallel()

	tests := []struct {
		status    int
		class     llm.Class
		retryable bool
	}{
		{400, llm.ClassInvalid, false},
		{401, llm.ClassAuth, false},
		{402, llm.ClassInvalid, false},
		{403, llm.ClassAuth, false},
		{404, llm.ClassInvalid, false},
		{408, llm.ClassTransient, true},
		{409, llm.ClassTransient, true},
		{413, llm.ClassContextTooLong, false},
		{422, llm.ClassInvalid, false},
		{429, llm.ClassQuota, true},
		{500, llm.ClassTransient, true},
		{502, llm.ClassTransient, true},
		{503, llm.ClassTransient, true},
		{504, llm.ClassTransient, true},
		{529, llm.ClassTransient, true},
		{302, llm.ClassUnknown, false},
		{0, llm.ClassUnknown, false},
	}

	for _, test := range tests {
		e := llm.ErrorOfStatus(test.status, nil, "code", "message")
		require.Equal(t, test.class, e.Class, "%d", test.status)
		require.Equal(t, test.retryable, e.Retryable, "%d", test.status)
		require.Equal(t, test.status, e.Status)
		require.Zero(t, e.RetryAfter)
	}
}

func TestContextOverflowIsRecognisedByProviderText(t *testing.T) {
	t.Parallel()

	for _, said := range []string{
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
		"prompt is too long: 208310 tokens > 200000 maximum",
		"input length and `max_tokens` exceed context limit: 199211 + 20000 > 200000",
		"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).",
		"Your input exceeds the context window of this model.",
		"the request exceeds the available context size",
		"This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
		"Input is too long for requested model.",
	} {
		e := llm.ErrorOfStatus(http.StatusBadRequest, nil, "", said)
		require.Equal(t, llm.ClassContextTooLong, e.Class, said)
		require.ErrorContains(t, e, "larger context")

		e = llm.ErrorOfStatus(http.StatusInternalServerError, nil, "", said)
		require.Equal(t, llm.ClassContextTooLong, e.Class, "some servers answer 500")
		require.False(t, e.Retryable)

		e = llm.ErrorOfStatus(http.StatusTooManyRequests, nil, "", said)
		require.Equal(t, llm.ClassQuota, e.Class, "a limit of the rate speaks of tokens too")
		require.True(t, e.Retryable)
	}

	require.Equal(t, llm.ClassContextTooLong, llm.ErrorOfStatus(http.StatusBadRequest, nil, "context_length_exceeded", "no").Class)
}

func TestRetryAfterIsParsedInEveryFormat(t *testing.T) {
	t.Parallel()

	const longest = 365 * 24 * time.Hour

	tests := map[string]struct {
		header http.Header
		want   time.Duration
	}{
		"none":               {nil, 0},
		"seconds":            {http.Header{"Retry-After": {"7"}}, 7 * time.Second},
		"a part of a second": {http.Header{"Retry-After": {"0.5"}}, 500 * time.Millisecond},
		"milliseconds first": {http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500"}}, 1500 * time.Millisecond},
		"the past":           {http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, 0},
		"negative":           {http.Header{"Retry-After": {"-3"}}, 0},
		"no number":          {http.Header{"Retry-After": {"soon"}}, 0},
		"not a number":       {http.Header{"Retry-After": {"NaN"}}, 0},
		"for ever":           {http.Header{"Retry-After": {"Inf"}}, longest},
		"more than there is": {http.Header{"Retry-After": {"1e300"}}, longest},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, llm.ErrorOfStatus(http.StatusTooManyRequests, test.header, "", "").RetryAfter)
		})
	}

	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	e := llm.ErrorOfStatus(http.StatusTooManyRequests, http.Header{"Retry-After": {date}}, "", "")
	require.InDelta(t, time.Hour, e.RetryAfter, float64(time.Minute), "a date")
}

func TestErrorSaysWhatHappenedAndWhatToDo(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		err  *llm.Error
		want string
	}{
		"all of it": {
			&llm.Error{Class: llm.ClassQuota, Status: 429, Code: "rate_limited", Message: " slow down\n"},
			"slow down (HTTP 429, rate_limited): wait, raise the provider's limits, or configure a fallback provider",
		},
		"a hint of its own":      {&llm.Error{Class: llm.ClassAuth, Message: "no", Hint: "set OPENAI_API_KEY"}, "no: set OPENAI_API_KEY"},
		"the error it is of":     {&llm.Error{Class: llm.ClassUnknown, Err: errors.New("reset by peer")}, "reset by peer"},
		"no more than is known":  {&llm.Error{Class: llm.ClassUnknown, Message: "odd"}, "odd"},
		"a class is enough":      {&llm.Error{Class: llm.ClassTransient, Message: "x"}, "x: the provider is in trouble; try again later, or configure a fallback provider"},
		"a code without message": {&llm.Error{Class: llm.ClassUnknown, Code: "E1"}, "the call failed (E1)"},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, test.want, test.err.Error())
		})
	}

	for _, class := range []llm.Class{
		llm.ClassAuth, llm.ClassQuota, llm.ClassContextTooLong, llm.ClassSafety, llm.ClassTransient, llm.ClassInvalid,
	} {
		require.Greater(t, len((&llm.Error{Class: class, Message: "x"}).Error()), len("x: "), "%s comes without advice", class)
	}
}

func TestAnyErrorIsWrapped(t *testing.T) {
	t.Parallel()
	require.Nil(t, llm.AsError(nil))

	known := &llm.Error{Class: llm.ClassSafety}
	require.Same(t, known, llm.AsError(fmt.Errorf("calling: %w", known)))

	reported := llm.ErrorChunk{Message: "overloaded", Code: "529", Retryable: true}
	e := llm.AsError(fmt.Errorf("calling: %w", reported))
	require.Equal(t, llm.ClassTransient, e.Class)
	require.True(t, e.Retryable)
	require.ErrorIs(t, e, reported)

	e = llm.AsError(llm.ErrorChunk{Message: "no", Code: "1"})
	require.Equal(t, llm.ClassUnknown, e.Class)
	require.False(t, e.Retryable)

	e = llm.AsError(context.Canceled)
	require.Equal(t, llm.ClassUnknown, e.Class)
	require.False(t, e.Retryable, "who left is not called back")
	require.ErrorIs(t, e, context.Canceled)
}

func TestBrokenCallIsTransientUnlessCallerCancelled(t *testing.T) {
	t.Parallel()

	broken := errors.New("connection reset")
	ctx, cancel := context.WithCancelCause(t.Context())

	e := llm.AsError(llm.Transient(ctx, broken))
	require.Equal(t, llm.ClassTransient, e.Class)
	require.True(t, e.Retryable)
	require.ErrorIs(t, e, broken)

	why := errors.New("shutting down")
	cancel(why)
	require.Equal(t, why, llm.Transient(ctx, broken))
}

func TestProviderCanForbidRetry(t *testing.T) {
	t.Parallel()

	for value, retryable := range map[string]bool{"": true, "true": true, "false": false} {
		require.Equal(t, retryable, llm.ErrorOfStatus(http.StatusConflict, http.Header{"X-Should-Retry": {value}}, "", "no").Retryable, value)
	}
}
