package llm

import (
	"fmt"
	"iter"
	"strings"
)

// Response is a streamed answer put together.
type Response struct {
	Text           string
	Thinking       string
	ToolCalls      []ToolCall
	CodeExecutions []CodeExecutionChunk
	Groundings     []GroundingChunk
	Usage          UsageChunk
	// End is the zero value where the answer did not complete, or nothing was said of it.
	End EndChunk
}

// Collect reads seq to its end and puts its chunks together. Each, where it is not nil, sees every chunk as it comes,
// before the next is asked for; an error of its own ends the stream. An ErrorChunk is not passed on: it is the error
// that Collect returns. On any error the Response holds what came before it.
func Collect(seq iter.Seq2[Chunk, error], each func(Chunk) error) (Response, error) {
	var (
		response       Response
		text, thinking strings.Builder
		failure        error
	)

	for chunk, err := range seq {
		if err != nil {
			failure = err

			break
		}

		switch c := chunk.(type) {
		case TextChunk:
			text.WriteString(c.Text)
		case ThinkingChunk:
			thinking.WriteString(c.Text)
		case ToolCallChunk:
			response.ToolCalls = append(response.ToolCalls, c.Call)
		case CodeExecutionChunk:
			response.CodeExecutions = append(response.CodeExecutions, c)
		case GroundingChunk:
			response.Groundings = append(response.Groundings, c)
		case UsageChunk:
			response.Usage = c
		case EndChunk:
			response.End = c
		case ErrorChunk:
			failure = c
		default:
			failure = fmt.Errorf("collect an answer: unknown chunk type %T", chunk)
		}

		if failure == nil && each != nil {
			failure = each(chunk)
		}

		if failure != nil {
			break
		}
	}

	response.Text, response.Thinking = text.String(), thinking.String()

	return response, failure
}
