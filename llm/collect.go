package llm

import (
	"fmt"
	"iter"
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
	var collector Collector

	return collector.Collect(seq, each)
}

// Collector is Collect for a caller that reads many answers, one after the other: its buffers are used again. The zero
// Collector is ready.
type Collector struct {
	response       Response
	text, thinking []byte
}

// Collect is the function of that name.
func (c *Collector) Collect(seq iter.Seq2[Chunk, error], each func(Chunk) error) (Response, error) {
	var failure error

	c.response, c.text, c.thinking = Response{}, c.text[:0], c.thinking[:0]

	for chunk, err := range seq {
		failure = err

		if failure == nil {
			failure = c.add(chunk)
		}

		if failure == nil && each != nil {
			failure = each(chunk)
		}

		if failure != nil {
			break
		}
	}

	response := c.response
	response.Text, response.Thinking = string(c.text), string(c.thinking)
	c.response = Response{}

	return response, failure
}

// add adds a chunk to the response.
func (c *Collector) add(chunk Chunk) error {
	switch part := chunk.(type) {
	case TextChunk:
		c.text = append(c.text, part.Text...)
	case ThinkingChunk:
		c.thinking = append(c.thinking, part.Text...)
	case ToolCallChunk:
		c.response.ToolCalls = append(c.response.ToolCalls, part.Call)
	case CodeExecutionChunk:
		c.response.CodeExecutions = append(c.response.CodeExecutions, part)
	case GroundingChunk:
		c.response.Groundings = append(c.response.Groundings, part)
	case UsageChunk:
		c.response.Usage = part
	case EndChunk:
		c.response.End = part
	case ErrorChunk:
		return part
	default:
		return fmt.Errorf("collect an answer: unknown chunk type %T", chunk)
	}

	return nil
}
