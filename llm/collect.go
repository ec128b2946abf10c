package llm

import (
	"fmt"
	"iter"
)

// Response is an answer collected from its chunks.
type Response struct {
	Text           string
	Thinking       string
	ToolCalls      []ToolCall
	CodeExecutions []CodeExecutionChunk
	Groundings     []GroundingChunk
	Usage          UsageChunk
	// End is zero if the answer did not complete, or the client did not report its end.
	End EndChunk
}

// Collect reads seq to its end and combines its chunks. If each is not nil, it is called with every chunk as it arrives, before
// the next one is requested; an error that it returns ends the stream. An ErrorChunk is not passed on: Collect returns it as
// its error. On any error, the Response contains what came before it.
func Collect(seq iter.Seq2[Chunk, error], each func(Chunk) error) (Response, error) {
	var collector Collector

	return collector.Collect(seq, each)
}

// Collector is Collect for a caller that reads many answers in sequence: it reuses its buffers. The zero Collector is ready to use.
type Collector struct {
	response       Response
	text, thinking []byte
}

// Collect does what the function Collect does.
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
