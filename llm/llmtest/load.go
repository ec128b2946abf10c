package llmtest

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"runtime"
	"strings"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func loadCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"twenty calls at once on one client each get their own answer": callsAtOnce,
		"a long conversation goes through":                             longConversation,
	}
}

func callsAtOnce(f *fixture) {
	const calls = 20

	f.script.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply {
		return script.Reply{Text: "You said: " + req.Messages[0].Content + strings.Repeat(" word", 50)}
	})

	var group errgroup.Group
	for i := range calls {
		group.Go(func() error {
			question := fmt.Sprintf("question %d", i)

			response, err := llm.Collect(f.client.Generate(f.ctx(), f.request(user(question))), nil)
			if err != nil {
				return err
			}

			if want := "You said: " + question + strings.Repeat(" word", 50); response.Text != want {
				return fmt.Errorf("%q instead of %q", response.Text, want)
			}

			return nil
		})
	}

	require.NoError(f, group.Wait())
	require.Equal(f, calls, f.script.CallCount())
}

func longConversation(f *fixture) {
	f.script.Add(script.Reply{Text: "fine"})

	sent := []llm.Message{system("You look into alerts."), user(strings.Repeat("a long alert ", 50000))}
	for i := range 100 {
		call := llm.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`}
		sent = append(sent, llm.Message{Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{call}}, result(call, strings.Repeat("line\n", 5000)))
	}

	f.answer(f.toolRequest(sent...))
	f.sameConversation(sent, f.seen(0).Messages)
}

// enormousAnswer runs alone, because it measures the memory of the whole process: the client's and the server's.
func enormousAnswer(f *fixture) {
	const (
		pieces = 2048
		size   = 2 << 10
		total  = pieces * size
	)

	chunks := make([]llm.Chunk, pieces)
	for i := range chunks {
		chunks[i] = llm.TextChunk{Text: fmt.Sprintf("%08d", i) + strings.Repeat("x", size-8)}
	}

	f.script.Add(script.Reply{Chunks: chunks, Usage: &llm.UsageChunk{InputTokens: 1, OutputTokens: 1}})

	var (
		want, got = sha256.New(), sha256.New()
		read      int
		before    runtime.MemStats
		now       runtime.MemStats
		peak      uint64
	)

	runtime.GC()
	runtime.ReadMemStats(&before)

	for chunk, err := range f.client.Generate(f.ctx(), f.request()) {
		require.NoError(f, err)

		piece, ok := chunk.(llm.TextChunk)
		if !ok {
			continue
		}

		write(got, piece.Text)

		const sample = 1 << 20
		if read/sample != (read+len(piece.Text))/sample {
			runtime.GC()
			runtime.ReadMemStats(&now)
			peak = max(peak, now.HeapAlloc-min(now.HeapAlloc, before.HeapAlloc))
		}

		read += len(piece.Text)
	}

	runtime.ReadMemStats(&now)

	for _, chunk := range chunks {
		write(want, chunk.(llm.TextChunk).Text) //nolint:forcetypeassert // made above
	}

	require.Equal(f, total, read)
	require.Equal(f, want.Sum(nil), got.Sum(nil), "the answer is not what was sent")

	// Some APIs repeat the whole answer several times at its end, and the server is in this process too. But the answer must
	// not be copied for each piece.
	require.Less(f, peak, uint64(16*total), "memory held while the answer came")
	require.Less(f, now.TotalAlloc-before.TotalAlloc, uint64(100*total), "memory used for the answer")
	f.Logf("held at most %d kB, used %d kB for an answer of %d kB", peak>>10, (now.TotalAlloc-before.TotalAlloc)>>10, total>>10)
}

func write(to hash.Hash, text string) { _, _ = io.WriteString(to, text) }
