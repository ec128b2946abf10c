package llmtest

import (
	"net/http"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// failure is an error of the server and what the client must report for it.
type failure struct {
	status     int
	class      llm.Class
	retryable  bool
	message    string
	code       string
	retryAfter time.Duration
}

func failures() map[string]failure {
	const overloaded = 529

	return map[string]failure{
		"400 is an invalid request":          {status: http.StatusBadRequest, class: llm.ClassInvalid, message: "temperature is out of range"},
		"401 is an auth error":               {status: http.StatusUnauthorized, class: llm.ClassAuth, message: "the key is not valid"},
		"403 is an auth error":               {status: http.StatusForbidden, class: llm.ClassAuth, message: "the key may not use this model"},
		"404 is an invalid request":          {status: http.StatusNotFound, class: llm.ClassInvalid, message: "there is no such model"},
		"429 with Retry-After":               {status: http.StatusTooManyRequests, class: llm.ClassQuota, retryable: true, message: "too many requests", retryAfter: 7 * time.Second},
		"429 without Retry-After":            {status: http.StatusTooManyRequests, class: llm.ClassQuota, retryable: true, message: "too many requests"},
		"500 is transient":                   {status: http.StatusInternalServerError, class: llm.ClassTransient, retryable: true, message: "something broke"},
		"503 is transient, with Retry-After": {status: http.StatusServiceUnavailable, class: llm.ClassTransient, retryable: true, message: "come back later", retryAfter: 3 * time.Second},
		"529 is transient":                   {status: overloaded, class: llm.ClassTransient, retryable: true, message: "overloaded"},
		"a conversation that is too long is reported": {
			status: http.StatusBadRequest, class: llm.ClassContextTooLong, code: "context_length_exceeded",
			message: "prompt is too long: this model's maximum context length is 200000 tokens, the request has 300000",
		},
	}
}

func errorCases() map[string]func(*fixture) {
	cases := map[string]func(*fixture){
		"an error in mid-stream ends the answer":                     errorInMidStream,
		"a refused question is a safety error":                       refusal,
		"an answer that is withheld half-way is a safety error":      withheld,
		"an error never shows the key":                               keyInError,
		"an error of the server is shown, but not all of a long one": longError,
		"a server that is not there is transient":                    noServer,
	}

	for name, failure := range failures() {
		cases[name] = func(f *fixture) { serverError(f, failure) }
	}

	return cases
}

// fails makes a call that must fail.
func (f *fixture) fails(req *llm.Request) *llm.Error {
	f.Helper()

	_, _, err := f.generate(req)
	require.Error(f, err)
	require.NotContains(f, err.Error(), key)

	return llm.AsError(err)
}

// requireAdvice checks that an error says what happened and what an operator can do about it.
func (f *fixture) requireAdvice(e *llm.Error, happened string) {
	f.Helper()
	require.Contains(f, e.Error(), happened)

	advice, ok := strings.CutPrefix((&llm.Error{Class: e.Class, Hint: e.Hint, Message: "x"}).Error(), "x: ")
	require.True(f, ok, "%s comes without advice", e.Class)
	require.Contains(f, e.Error(), advice)
}

func serverError(f *fixture, want failure) {
	f.script.Add(script.Reply{Err: &llm.Error{
		Status: want.status, Class: want.class, Code: want.code, Message: want.message, Retryable: want.retryable, RetryAfter: want.retryAfter,
	}}, script.Reply{Text: "asked again"})

	e := f.fails(f.request())
	require.Equal(f, want.class, e.Class, "%+v", e)
	require.Equal(f, want.status, e.Status)
	require.Equal(f, want.retryable, e.Retryable)
	require.Equal(f, want.retryAfter, e.RetryAfter)
	f.requireAdvice(e, want.message)
	require.Equal(f, 1, f.script.CallCount(), "a client does not try again by itself")
}

func errorInMidStream(f *fixture) {
	f.script.Add(script.Reply{Text: "one two three four", AfterChunks: 2, Err: &llm.Error{
		Status: http.StatusServiceUnavailable, Class: llm.ClassTransient, Message: "overloaded just now", Retryable: true,
	}})

	response, _, err := f.generate(f.request())
	require.Error(f, err)

	e := llm.AsError(err)
	require.Equal(f, llm.ClassTransient, e.Class, "%+v", e)
	require.True(f, e.Retryable)
	f.requireAdvice(e, "overloaded just now")
	require.Equal(f, "one two ", response.Text, "what came before stays")
}

// blocked returns the error with which a script withholds an answer; each API reports it differently.
func blocked() *llm.Error {
	return &llm.Error{
		Status: http.StatusBadRequest, Class: llm.ClassSafety, Code: "content_filter", Message: "the answer was blocked by the content filter",
	}
}

func refusal(f *fixture) {
	f.script.Add(script.Reply{Err: blocked()})

	e := f.fails(f.request())
	require.Equal(f, llm.ClassSafety, e.Class, "%+v", e)
	require.False(f, e.Retryable)
	f.requireAdvice(e, "")
}

func withheld(f *fixture) {
	f.script.Add(script.Reply{Text: "one two three four", AfterChunks: 2, Err: blocked()})

	response, _, err := f.generate(f.request())
	require.Error(f, err)

	e := llm.AsError(err)
	require.Equal(f, llm.ClassSafety, e.Class, "%+v", e)
	require.False(f, e.Retryable)
	require.Equal(f, "one two ", response.Text)
}

func keyInError(f *fixture) {
	f.script.Add(
		script.Reply{Err: &llm.Error{Status: http.StatusUnauthorized, Class: llm.ClassAuth, Message: "incorrect API key provided: " + key}},
		script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassTransient, Message: "lost " + key, Retryable: true}},
	)

	require.Equal(f, llm.ClassAuth, f.fails(f.request()).Class)
	require.True(f, f.fails(f.request()).Retryable)
}

func longError(f *fixture) {
	f.script.Add(script.Reply{Err: &llm.Error{
		Status: http.StatusBadRequest, Class: llm.ClassInvalid, Message: "the request is wrong: " + strings.Repeat("ünd so on ", 10000),
	}})

	e := f.fails(f.request())
	require.Contains(f, e.Error(), "the request is wrong")
	require.Less(f, len(e.Error()), 2000)
}

func noServer(f *fixture) {
	f.client = f.p.New(f.T, "http://127.0.0.1:1", key)

	e := f.fails(f.request())
	require.Equal(f, llm.ClassTransient, e.Class, "%+v", e)
	require.True(f, e.Retryable)
	require.Zero(f, e.Status)
	f.requireAdvice(e, "")
}
