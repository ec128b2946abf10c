package gemini_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

var (
	thinkingReply = script.Reply{
		Thinking: "hm", Text: "hello there",
		Usage: &llm.UsageChunk{InputTokens: 10, OutputTokens: 3, ThinkingTokens: 4, CachedTokens: 6},
	}
	callsReply = script.Reply{
		Thinking: "hm", Text: "two",
		ToolCalls: []llm.ToolCall{{Name: "k8s__get", Arguments: `{"ns": "a <b>"}`}, {Name: "k8s__list"}},
		Usage:     &llm.UsageChunk{InputTokens: 1, OutputTokens: 2},
	}
	nativeReply = script.Reply{Chunks: []llm.Chunk{
		llm.CodeExecutionChunk{Code: "print(1)\n", Result: "1\n"},
		llm.TextChunk{Text: "one"},
		llm.GroundingChunk{
			Kind: "google_search", Queries: []string{"q1", "q2"},
			Sources: []llm.Source{{Title: "A", URL: "https://a.example"}, {Title: "B", URL: "https://b.example"}},
		},
		llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{URL: "https://c.example"}}},
		llm.UsageChunk{InputTokens: 1, OutputTokens: 2},
		llm.EndChunk{Reason: llm.StopMaxTokens},
	}}
)

const (
	ending  = `,"modelVersion":"gemini-2.5-flash","responseId":"ID"}`
	usage12 = `"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2,"totalTokenCount":3,` +
		`"promptTokensDetails":[{"modality":"TEXT","tokenCount":1}]}`
	usageThinking = `"usageMetadata":{"promptTokenCount":10,"cachedContentTokenCount":6,"candidatesTokenCount":3,` +
		`"totalTokenCount":17,"promptTokensDetails":[{"modality":"TEXT","tokenCount":10}],"thoughtsTokenCount":4}`
	// signature is the signature of the thought "hm": "thought_" and the first 24 digits of its SHA-256, in base64.
	signature = "dGhvdWdodF9iODJlMjE3OGVjZjRkMGM1ODU5ZGMyZTE="
)

func TestWholeAnswerMatchesAPI(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		reply script.Reply
		want  string
	}{
		"thinking and text": {thinkingReply, `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},` +
			`{"text":"hello there","thoughtSignature":"` + signature + `"}],"role":"model"},"finishReason":"STOP","index":0}],` +
			usageThinking + ending},
		"calls": {callsReply, `{"candidates":[{"content":{"parts":[{"text":"hm","thought":true},{"text":"two"},` +
			`{"functionCall":{"name":"k8s__get","args":{"ns":"a <b>"},"id":"call_1"},"thoughtSignature":"` + signature + `"},` +
			`{"functionCall":{"name":"k8s__list","args":{},"id":"call_2"}}],"role":"model"},"finishReason":"STOP","index":0}],` +
			usage12 + ending},
		"native tools": {nativeReply, `{"candidates":[{"content":{"parts":[{"executableCode":{"language":"PYTHON","code":"print(1)\n"}},` +
			`{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}},{"text":"one"}],"role":"model"},` +
			`"finishReason":"MAX_TOKENS","index":0,` + grounding + `,` + fetching + `}],` + usage12 + ending},
		"empty": {script.Reply{Usage: &llm.UsageChunk{InputTokens: 1, OutputTokens: 2}}, `{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},` +
			`"finishReason":"STOP","index":0}],` + usage12 + ending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			resp, body := serve(t, test.reply).post(t, path, hello)
			require.Equal(t, http.StatusOK, resp.StatusCode)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			require.Equal(t, test.want, noID(t, body))
			require.True(t, json.Valid([]byte(body)))
		})
	}
}

const (
	grounding = `"groundingMetadata":{"searchEntryPoint":{"renderedContent":"<div></div>"},"groundingChunks":[` +
		`{"web":{"uri":"https://a.example","title":"A"}},{"web":{"uri":"https://b.example","title":"B"}}],` +
		`"groundingSupports":[],"webSearchQueries":["q1","q2"]}`
	fetching = `"urlContextMetadata":{"urlMetadata":[{"retrievedUrl":"https://c.example","urlRetrievalStatus":"URL_RETRIEVAL_STATUS_SUCCESS"}]}`
)

// streams returns replies with the elements of their streams.
func streams() map[string]struct {
	reply script.Reply
	want  []string
} {
	part := func(part string) string {
		return `{"candidates":[{"content":{"parts":[` + part + `],"role":"model"},"index":0}]` + ending
	}
	last := func(part, reason, usage string) string {
		return `{"candidates":[{"content":{"parts":[` + part + `],"role":"model"},"finishReason":"` + reason + `","index":0}],` + usage + ending
	}

	return map[string]struct {
		reply script.Reply
		want  []string
	}{
		"thinking and text": {thinkingReply, []string{
			part(`{"text":"hm","thought":true}`), part(`{"text":"hello "}`), part(`{"text":"there"}`),
			last(`{"text":"","thoughtSignature":"`+signature+`"}`, "STOP", usageThinking),
		}},
		"calls": {callsReply, []string{
			part(`{"text":"hm","thought":true}`), part(`{"text":"two"}`),
			part(`{"functionCall":{"name":"k8s__get","args":{"ns":"a <b>"},"id":"call_1"},"thoughtSignature":"` + signature + `"}`),
			part(`{"functionCall":{"name":"k8s__list","args":{},"id":"call_2"}}`),
			last(`{"text":""}`, "STOP", usage12),
		}},
		"native tools": {nativeReply, []string{
			part(`{"executableCode":{"language":"PYTHON","code":"print(1)\n"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1\n"}}`),
			part(`{"text":"one"}`),
			`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,` + grounding + `}]` + ending,
			`{"candidates":[{"content":{"parts":[{"text":""}],"role":"model"},"index":0,` + fetching + `}]` + ending,
			last(`{"text":""}`, "MAX_TOKENS", usage12),
		}},
	}
}

func TestEventStreamMatchesAPI(t *testing.T) {
	t.Parallel()

	for name, test := range streams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			resp, body := serve(t, test.reply).post(t, events, hello)
			require.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"))
			require.Equal(t, "data: "+strings.Join(test.want, "\r\n\r\ndata: ")+"\r\n\r\n", noID(t, body))
		})
	}
}

func TestStreamWithoutEventsIsArray(t *testing.T) {
	t.Parallel()

	for name, test := range streams() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			resp, body := serve(t, test.reply).post(t, array, hello)
			require.Equal(t, "application/json", resp.Header.Get("Content-Type"))
			require.Equal(t, "["+strings.Join(test.want, ",\r\n")+"]", noID(t, body))
			require.True(t, json.Valid([]byte(body)))
		})
	}
}

func TestThoughtsAreShownOnRequestOnly(t *testing.T) {
	t.Parallel()

	const quiet = `{"contents":[{"parts":[{"text":"hi"}]}]}`

	s := serve(t, thinkingReply, thinkingReply)

	_, whole := s.post(t, path, quiet)
	_, stream := s.post(t, events, quiet)

	for _, body := range []string{whole, stream} {
		require.NotContains(t, body, `"thought":true`)
		require.Contains(t, body, `"thoughtsTokenCount":4`)
		require.Contains(t, body, signature)
	}
}

func TestScriptedSignatureIsReturnedUnchanged(t *testing.T) {
	t.Parallel()

	given := &llm.Signature{By: "any", Data: json.RawMessage(`"signed by ü"`)}
	reply := script.Reply{Chunks: []llm.Chunk{llm.TextChunk{Text: "x"}, llm.EndChunk{Signature: given}}}
	s := serve(t, reply, reply)

	_, whole := s.post(t, path, hello)
	require.Contains(t, whole, `{"text":"x","thoughtSignature":"dGV4dDpzaWduZWQgYnkgw7w="}`)

	_, stream := s.post(t, events, hello)
	require.Contains(t, stream, `{"text":"","thoughtSignature":"dGV4dDpzaWduZWQgYnkgw7w="}`)

	back := serve(t)
	back.post(t, path, `{"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"x"},{"text":"","thoughtSignature":"dGV4dDpzaWduZWQgYnkgw7w="}]},`+
		`{"role":"user","parts":[{"text":"b"}]}]}`)
	require.Equal(t, &llm.Signature{By: "wire", Data: given.Data}, back.asked(t).Messages[1].Signature)
}

func TestScriptedSignatureIsOnFirstCall(t *testing.T) {
	t.Parallel()

	reply := script.Reply{
		Thinking: "hm", Text: "I look.", Signature: "signed by ü", ToolCalls: []llm.ToolCall{{ID: "a", Name: "get"}, {ID: "b", Name: "list"}},
	}
	s := serve(t, reply, reply)

	for _, where := range []string{path, events} {
		_, answer := s.post(t, where, hello)
		require.Contains(t, answer, `{"functionCall":{"name":"get","args":{},"id":"a"},"thoughtSignature":"dGV4dDpzaWduZWQgYnkgw7w="}`)
		require.Equal(t, 1, strings.Count(answer, "thoughtSignature"))
	}
}

func TestIDsAreUniqueAndStableAcrossRuns(t *testing.T) {
	t.Parallel()

	ids := func() (ids []string) {
		s := serve(t)
		for range 2 {
			_, body := s.post(t, path, hello)
			ids = append(ids, responseID.FindString(body))
		}

		return ids
	}

	first := ids()
	require.NotEqual(t, first[0], first[1])
	require.Equal(t, first, ids())
}

func TestErrorsMatchAPI(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		err    error
		status int
		want   string
		after  string
	}{
		"quota": {
			&llm.Error{Class: llm.ClassQuota, Status: 429, Message: "slow \"down\"", RetryAfter: 1500 * time.Millisecond},
			429, `{"error":{"code":429,"message":"slow \"down\"","status":"RESOURCE_EXHAUSTED","details":[` +
				`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"1.5s"}]}}`, "2",
		},
		"a bad key": {
			&llm.Error{Status: 400, Code: "API_KEY_INVALID", Message: "API key not valid."},
			400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[` +
				`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com",` +
				`"metadata":{"service":"generativelanguage.googleapis.com"}}]}}`, "",
		},
		"a status of Google's": {
			&llm.Error{Status: 400, Code: "FAILED_PRECONDITION", Message: "no"},
			400, `{"error":{"code":400,"message":"no","status":"FAILED_PRECONDITION"}}`, "",
		},
		"overloaded": {&llm.Error{Status: 529, Message: "busy"}, 529, `{"error":{"code":529,"message":"busy","status":"UNAVAILABLE"}}`, ""},
		"auth":       {&llm.Error{Class: llm.ClassAuth, Message: "who"}, 401, `{"error":{"code":401,"message":"who","status":"UNAUTHENTICATED"}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t, script.Reply{Err: test.err}, script.Reply{Err: test.err})

			for _, target := range []string{path, events} {
				resp, body := s.post(t, target, hello)
				require.Equal(t, test.status, resp.StatusCode)
				require.Equal(t, test.want, body)
				require.Equal(t, test.after, resp.Header.Get("Retry-After"))
			}
		})
	}
}

func TestErrorDuringStreamIsEvent(t *testing.T) {
	t.Parallel()

	broken := script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Status: 503, Message: "gone"}}
	withheld := script.Reply{Text: "one two", AfterChunks: 1, Err: &llm.Error{Class: llm.ClassSafety, Message: "no more"}}
	s := serve(t, broken, broken, withheld)

	const failure = `{"error":{"code":503,"message":"gone","status":"UNAVAILABLE"}}`

	_, body := s.post(t, events, hello)
	require.True(t, strings.HasSuffix(body, "\r\n\r\ndata: "+failure+"\r\n\r\n"), body)

	_, body = s.post(t, array, hello)
	require.True(t, strings.HasSuffix(body, ",\r\n"+failure+"]"), body)
	require.True(t, json.Valid([]byte(body)))

	_, body = s.post(t, events, hello)
	require.Contains(t, body, `data: {"candidates":[{"finishReason":"SAFETY","index":0,"finishMessage":"no more"}],"modelVersion"`)
}
