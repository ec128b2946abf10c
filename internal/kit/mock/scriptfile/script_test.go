package scriptfile_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/scriptfile"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func parse(t *testing.T, text string) *scriptfile.File {
	t.Helper()

	file, err := scriptfile.Parse("script.yaml", []byte(text))
	require.NoError(t, err)

	return file
}

// play makes a call and returns its chunks.
func play(t *testing.T, s *script.Script, in script.Incoming) ([]llm.Chunk, error) {
	t.Helper()

	if in.Request == nil {
		in.Request = &llm.Request{}
	}

	var chunks []llm.Chunk

	for chunk, err := range s.Answer(t.Context(), in) {
		if err != nil {
			return chunks, err
		}

		chunks = append(chunks, chunk)
	}

	return chunks, nil
}

func TestReplyIsPlayedAsWritten(t *testing.T) {
	t.Parallel()

	usage := llm.UsageChunk{InputTokens: 1, OutputTokens: 2, ThinkingTokens: 3, CachedTokens: 4}

	for name, test := range map[string]struct {
		text string
		want []llm.Chunk
	}{
		"all of it": {
			`{thinking: Hm., signature: proof, text: "one two", stop: max_tokens, usage: {input: 1, output: 2, thinking: 3, cached: 4},
			  tool_calls: [{name: a, id: x, arguments: {z: 1, a: [1.5, null, "<"]}}, {name: b, arguments: "raw {"}, {name: c}]}`,
			[]llm.Chunk{
				llm.ThinkingChunk{Text: "Hm."}, llm.TextChunk{Text: "one "}, llm.TextChunk{Text: "two"},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "x", Name: "a", Arguments: `{"z":1,"a":[1.5,null,"<"]}`}},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_2", Name: "b", Arguments: "raw {"}},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "call_3", Name: "c", Arguments: "{}"}},
				usage,
				llm.EndChunk{Reason: llm.StopMaxTokens, Signature: &llm.Signature{By: "script", Data: []byte(`"proof"`)}},
			},
		},
		"exact chunks": {
			`{chunks: ["one two", "", {thinking: a}, {tool_call: {name: a, id: x}}, {code_execution: {code: a, result: b}},
			  {google_search: {queries: [q], sources: [{title: t, url: u}]}}, {url_context: {sources: [{url: u}]}}]}`,
			[]llm.Chunk{
				llm.TextChunk{Text: "one two"}, llm.TextChunk{}, llm.ThinkingChunk{Text: "a"},
				llm.ToolCallChunk{Call: llm.ToolCall{ID: "x", Name: "a", Arguments: "{}"}},
				llm.CodeExecutionChunk{Code: "a", Result: "b"},
				llm.GroundingChunk{Kind: "google_search", Queries: []string{"q"}, Sources: []llm.Source{{Title: "t", URL: "u"}}},
				llm.GroundingChunk{Kind: "url_context", Sources: []llm.Source{{URL: "u"}}},
			},
		},
		"a trickle": {
			`{trickle: true, text: né, usage: {input: 1, output: 2, thinking: 3, cached: 4}}`,
			[]llm.Chunk{llm.TextChunk{Text: "n"}, llm.TextChunk{Text: "é"}, usage},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chunks, err := play(t, parse(t, "version: 1\nreplies:\n- "+test.text+"\n").Script(nil), script.Incoming{})
			require.NoError(t, err)
			require.Empty(t, cmp.Diff(test.want, chunks))
		})
	}
}

func TestErrorMatchesProvider(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		text   string
		want   llm.Error
		chunks int
	}{
		"by status": {
			"{status: 429, code: slow, message: Slow down., retry_after: 1500ms}",
			llm.Error{
				Class: llm.ClassQuota, Status: 429, Code: "slow", Message: "Slow down.", Retryable: true, RetryAfter: 1500 * time.Millisecond,
			}, 0,
		},
		"by status alone": {"{status: 500}", llm.Error{Class: llm.ClassTransient, Status: 500, Message: "Internal Server Error", Retryable: true}, 0},
		"by class":        {"{class: safety}", llm.Error{Class: llm.ClassSafety, Message: "scripted error of class safety"}, 0},
		"by both":         {"{status: 400, class: transient}", llm.Error{Class: llm.ClassTransient, Status: 400, Message: "Bad Request", Retryable: true}, 0},
		"in mid-stream":   {"{message: Oops., after_chunks: 2}, text: one two three", llm.Error{Class: llm.ClassUnknown, Message: "Oops."}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chunks, err := play(t, parse(t, "version: 1\nreplies:\n- {error: "+test.text+"}\n").Script(nil), script.Incoming{})
			failed, ok := errors.AsType[*llm.Error](err)
			require.True(t, ok, err)
			require.Equal(t, test.want, *failed)
			require.Len(t, chunks, test.chunks)
		})
	}
}

func TestRoutesMatchTheirConditions(t *testing.T) {
	t.Parallel()

	s := parse(t, `
version: 1
replies: [{text: sequence}]
routes:
  - name: blue team
    when: {header: {x-team: {equals: blue}}, user: disk}
    replies: [{text: blue, times: forever}]
  - when: {agent: Investigator, turn: 1, tool_result: {matches: "(?i)oom"}, model: gpt, system: {contains: engineer}}
    replies: [{text: second turn}]
`).Script(nil)

	team := http.Header{"X-Team": {"blue"}}
	disk := &llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Content: "the disk is full"}}}
	second := &llm.Request{Model: "gpt-5", Messages: []llm.Message{
		{Role: llm.RoleSystem, Content: "You are Investigator, an engineer."}, {Role: llm.RoleUser, Content: "Look."},
		{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "1", Name: "logs"}}}, {Role: llm.RoleTool, Content: "OOMKilled", ToolCallID: "1"},
	}}

	for _, call := range []struct {
		in   script.Incoming
		want llm.Chunk
	}{
		{script.Incoming{Request: disk, Header: team}, llm.TextChunk{Text: "blue"}},
		{script.Incoming{Request: second, Header: http.Header{}}, llm.TextChunk{Text: "second "}},
		{script.Incoming{Request: disk, Header: team}, llm.TextChunk{Text: "blue"}},
		{script.Incoming{Request: disk, Header: http.Header{}}, llm.TextChunk{Text: "sequence"}},
	} {
		chunks, err := play(t, s, call.in)
		require.NoError(t, err)
		require.Equal(t, call.want, chunks[0])
	}

	require.Empty(t, s.Unused())
	require.Equal(t, "blue team", s.Calls()[0].Route)
	require.Equal(t, "Investigator", s.Calls()[1].Request.Agent)
}

func TestScriptsOfOneFileAreIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		file := parse(t, "version: 1\nreplies: [{text: once, gate: go}]\nroutes: [{when: {turn: 9}, replies: [{gate: later}]}]\n")
		require.Equal(t, []string{"go", "later"}, file.GateNames())

		first, second := file.Script(nil), file.Script(nil)
		first.Gate("go").Open()

		_, err := play(t, first, script.Incoming{})
		require.NoError(t, err)

		done := make(chan error)

		go func() {
			_, err := play(t, second, script.Incoming{})
			done <- err
		}()

		synctest.Wait()
		require.Zero(t, second.Calls()[0].Chunks, "it waits at a gate of its own")
		second.Gate("go").Open()
		require.NoError(t, <-done)
	})
}

func TestProfilesAndHangsFollowClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := parse(t, "version: 1\nprofile: {ttft: 2s, speed: 2}\nreplies: [{text: a}, {text: b, profile: {ttft: 5s}}, {text: c, hang: true}]\n").Script(nil)

		for _, want := range []time.Duration{time.Second, 5 * time.Second} {
			start := time.Now()
			_, err := play(t, s, script.Incoming{})
			require.NoError(t, err)
			require.Equal(t, want, time.Since(start))
		}

		go func() { _, _ = play(t, s, script.Incoming{}) }()

		<-time.After(time.Hour) //nolint:forbidigo // the time of a synctest bubble
		require.Equal(t, 2, s.Calls()[2].Chunks, "what the reply has comes before it hangs")
	})
}

func TestFileFaultsApplyToCalls(t *testing.T) {
	t.Parallel()

	s := parse(t, "version: 1\nfaults: {rate: 1, kinds: [500]}\nreplies: [{text: a}]\n").Script(nil)
	_, err := play(t, s, script.Incoming{})
	require.Equal(t, 500, llm.AsError(err).Status)
	require.Len(t, s.Unused(), 1, "a fault uses no reply up")
}

func TestChangedFileIsReloadedAndBrokenOneReported(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "script.yaml")
	modified := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	write := func(text string) {
		modified = modified.Add(time.Second)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.NoError(t, os.Chtimes(path, modified, modified))
	}

	write("version: 1\nmodels: [a]\n")

	loaded, err := scriptfile.Load(path)
	require.NoError(t, err)

	type change struct {
		file *scriptfile.File
		err  error
	}

	looks := ticks{Clock: clockwork.NewFakeClock(), now: make(chan time.Time)}
	changes := make(chan change, 1)
	done := make(chan struct{})

	go func() {
		defer close(done)

		scriptfile.Watch(t.Context(), loaded, looks, time.Second, func(file *scriptfile.File, err error) { changes <- change{file, err} })
	}()

	t.Cleanup(func() { <-done })

	// next lets Watch check until it reports a change.
	next := func() change {
		for {
			select {
			case looks.now <- time.Time{}:
			case c := <-changes:
				return c
			}
		}
	}

	looks.now <- time.Time{}

	write("version: 1\nmodels: [b]\n")

	looks.now <- time.Time{}

	write("version: 1\nmodels: [b, c]\n")
	require.Equal(t, []string{"b", "c"}, next().file.Models, "what was half written is not told")

	write("version: 1\nmodels: [d, e]\n")
	require.Equal(t, []string{"d", "e"}, next().file.Models, "of the same size")

	write("version: 1\nmodel: [b]\n")

	broken := next()
	require.Nil(t, broken.file)
	require.EqualError(t, broken.err, "script.yaml:2:1: model: unknown key; did you mean models?")

	require.NoError(t, os.Remove(path))
	require.ErrorIs(t, next().err, os.ErrNotExist)

	write("version: 1\nmodels: [d]\n")
	require.Equal(t, []string{"d"}, next().file.Models)

	for range 3 {
		looks.now <- time.Time{}
	}

	require.Empty(t, changes)
}

// ticks is a clock whose tickers tick when the test sends to now; the send returns when the waiting goroutine has received
// the tick.
type ticks struct {
	clockwork.Clock

	now chan time.Time
}

func (c ticks) NewTicker(time.Duration) clockwork.Ticker { return c }

func (c ticks) Chan() <-chan time.Time { return c.now }

func (ticks) Reset(time.Duration) {}

func (ticks) Stop() {}
