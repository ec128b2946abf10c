package llm_test

import (
	"errors"
	"iter"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

// stream yields chunks, then err unless it is nil. It sets left to the number of chunks that were not requested.
func stream(err error, left *int, chunks ...llm.Chunk) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		for i, chunk := range chunks {
			*left = len(chunks) - i - 1
			if !yield(chunk, nil) {
				return
			}
		}

		if err != nil {
			yield(nil, err)
		}
	}
}

func TestCollectJoinsEveryChunkTypeAndShowsEach(t *testing.T) {
	t.Parallel()

	call := llm.ToolCall{ID: "call_1", Name: "cluster__get_pods", Arguments: `{"namespace":"shop"}`}
	code := llm.CodeExecutionChunk{Code: "1+1", Result: "2"}
	grounding := llm.GroundingChunk{Kind: "google_search", Queries: []string{"oom"}, Sources: []llm.Source{{Title: "a", URL: "b"}}}
	usage := llm.UsageChunk{InputTokens: 4, OutputTokens: 3, ThinkingTokens: 2, CachedTokens: 1}
	chunks := []llm.Chunk{
		llm.ThinkingChunk{Text: "let me "}, llm.ThinkingChunk{Text: "see"},
		llm.TextChunk{Text: "two "}, code, llm.TextChunk{Text: "words"}, grounding, llm.ToolCallChunk{Call: call}, usage,
	}

	var (
		seen []llm.Chunk
		left int
	)

	response, err := llm.Collect(stream(nil, &left, chunks...), func(c llm.Chunk) error {
		require.Len(t, chunks, len(seen)+1+left, "a chunk was read before the one before it was shown")

		seen = append(seen, c)

		return nil
	})
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(chunks, seen))
	require.Empty(t, cmp.Diff(llm.Response{
		Text: "two words", Thinking: "let me see", ToolCalls: []llm.ToolCall{call},
		CodeExecutions: []llm.CodeExecutionChunk{code}, Groundings: []llm.GroundingChunk{grounding}, Usage: usage,
	}, response))
}

func TestCollectKeepsChunksBeforeError(t *testing.T) {
	t.Parallel()

	broken := errors.New("connection reset")
	full := errors.New("no room")
	reported := llm.ErrorChunk{Message: "overloaded", Code: "529", Retryable: true}

	tests := map[string]struct {
		streamErr error
		chunks    []llm.Chunk
		each      func(llm.Chunk) error
		want      error
		left      int
	}{
		"the stream's error": {
			streamErr: broken, chunks: []llm.Chunk{llm.TextChunk{Text: "half"}}, want: broken,
		},
		"an error chunk, which is not shown": {
			chunks: []llm.Chunk{llm.TextChunk{Text: "half"}, reported, llm.TextChunk{Text: " more"}}, want: reported, left: 1,
			each: func(c llm.Chunk) error {
				require.NotEqual(t, llm.Chunk(reported), c)

				return nil
			},
		},
		"the consumer's own error": {
			chunks: []llm.Chunk{llm.TextChunk{Text: "half"}, llm.TextChunk{Text: " more"}}, want: full, left: 1,
			each: func(llm.Chunk) error { return full },
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var left int

			response, err := llm.Collect(stream(test.streamErr, &left, test.chunks...), test.each)
			require.ErrorIs(t, err, test.want)
			require.Equal(t, "half", response.Text)
			require.Equal(t, test.left, left, "the stream was read beyond the error")
		})
	}
}

func TestCollectRefusesUnknownChunkType(t *testing.T) {
	t.Parallel()

	var left int

	_, err := llm.Collect(stream(nil, &left, nil), nil)
	require.ErrorContains(t, err, "unknown chunk type")
}
