package llmtest

import (
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func nativeCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"native tools are on where they were asked for": nativeOn,
		"native tools are off where tools are bound":    nativeOff,
		"code that the provider ran is shown":           codeExecution,
		"what the provider searched is shown":           search,
		"pages that the provider fetched are shown":     urlContext,
	}
}

// native returns the requested native tools that the API has.
func (p Provider) native() llm.NativeTools {
	return llm.NativeTools{
		GoogleSearch: p.has(FeatureSearch), CodeExecution: p.has(FeatureCodeExecution), URLContext: p.has(FeatureURLContext),
	}
}

func nativeOn(f *fixture) {
	f.needs(FeatureNativeTools)
	f.script.Add(script.Reply{Text: "fine"}, script.Reply{Text: "fine"})
	f.answer(f.request())
	require.Zero(f, f.seen(0).NativeTools, "nothing is on unless it was asked for")

	req := f.request()
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}
	f.answer(req)
	require.Equal(f, f.p.native(), f.seen(1).NativeTools)
}

func nativeOff(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	req := f.toolRequest()
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}
	f.answer(req)
	require.Zero(f, f.seen(0).NativeTools)
	require.Len(f, f.seen(0).Tools, len(req.Tools))
}

// nativeAnswer returns the answer to a call with native tools, in which the provider reports chunk.
func (f *fixture) nativeAnswer(chunk llm.Chunk) llm.Response {
	f.Helper()
	f.script.Add(script.Reply{Chunks: []llm.Chunk{
		llm.TextChunk{Text: "I looked. "}, chunk, llm.TextChunk{Text: "It is 2."}, llm.UsageChunk{InputTokens: 3, OutputTokens: 2},
	}})

	req := f.request()
	req.NativeTools = llm.NativeTools{GoogleSearch: true, CodeExecution: true, URLContext: true}
	response := f.answer(req)
	require.Equal(f, "I looked. It is 2.", response.Text)
	require.Equal(f, llm.StopEnd, response.End.Reason)
	require.Empty(f, response.ToolCalls, "what the provider ran is not for us to call")

	return response
}

func codeExecution(f *fixture) {
	f.needs(FeatureNativeTools, FeatureCodeExecution)

	chunk := llm.CodeExecutionChunk{Code: "print(1 + 1)\nprint(\"ü\")", Result: "2\nü\n"}
	require.Equal(f, []llm.CodeExecutionChunk{chunk}, f.nativeAnswer(chunk).CodeExecutions)
}

func search(f *fixture) {
	f.needs(FeatureNativeTools, FeatureSearch)

	chunk := llm.GroundingChunk{
		Kind: "google_search", Queries: []string{"kubernetes exit code 137"},
		Sources: []llm.Source{{Title: "Exit codes", URL: "https://example.com/137"}, {Title: "OOM", URL: "https://example.com/oom"}},
	}
	f.sameGrounding(chunk, f.nativeAnswer(chunk))
}

func urlContext(f *fixture) {
	f.needs(FeatureNativeTools, FeatureURLContext)

	chunk := llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{URL: "https://example.com/runbook"}}}
	f.sameGrounding(chunk, f.nativeAnswer(chunk))
}

// sameGrounding compares what an answer is based on: every source, in order, regardless of the number of chunks.
func (f *fixture) sameGrounding(want llm.GroundingChunk, response llm.Response) {
	f.Helper()

	var got llm.GroundingChunk

	for _, grounding := range response.Groundings {
		require.Equal(f, want.Kind, grounding.Kind)

		got.Queries = append(got.Queries, grounding.Queries...)
		got.Sources = append(got.Sources, grounding.Sources...)
	}

	require.Len(f, got.Sources, len(want.Sources), "%+v", response.Groundings)

	for i := range want.Sources {
		require.Equal(f, want.Sources[i].URL, got.Sources[i].URL)

		if want.Sources[i].Title != "" {
			require.Equal(f, want.Sources[i].Title, got.Sources[i].Title)
		}
	}

	if f.p.has(FeatureSearchQueries) {
		require.Equal(f, want.Queries, got.Queries)
	}
}
