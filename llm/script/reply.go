package script

import (
	"fmt"

	"tarsy.dev/tarsy/llm"
)

// Reply is one scripted answer. Its chunks are the thinking in pieces, the text in pieces, the tool calls and the
// usage, in this order; or exactly Chunks. The zero Reply is an empty answer.
type Reply struct {
	Text     string
	Thinking string
	// ToolCalls without an ID get call_1, call_2, … continuing from the tool calls already in the request, so that ids are
	// unique in a conversation and the same whenever it is played.
	ToolCalls []llm.ToolCall
	// Chunks are played unchanged, instead of Text, Thinking and ToolCalls; Usage, if set, follows them.
	Chunks []llm.Chunk
	// Usage is estimated from the request and the answer if it is nil.
	Usage *llm.UsageChunk

	// Err ends the call after AfterChunks chunks, or after all of them if there are fewer.
	Err error
	// Hang pauses the stream after AfterChunks chunks until the call's context is done.
	Hang        bool
	AfterChunks int
	// Gate blocks the stream after GateAfter chunks until it is opened: before the first chunk by default, before the end of
	// the call if there are no more chunks.
	Gate      *Gate
	GateAfter int
	// Expect checks the request; its error becomes the call's error, before the first chunk and before the gate.
	Expect func(*llm.Request) error

	// Times is how many calls the reply answers before the next one follows: 0 is once, -1 any number.
	Times int
	// Stop is why the model stopped, and Signature the signature of its answer. If one of them is set, an llm.EndChunk follows
	// the usage; the signature in it is by "script".
	Stop      llm.StopReason
	Signature string
	// Fault interrupts the answer.
	Fault *Fault
	// Pace is the pace of this reply, instead of the script's.
	Pace *Pace
	// Trickle streams text and thinking rune by rune.
	Trickle bool
}

// times is how often the reply is used, -1 for any number.
func (r *Reply) times() int {
	if r.Times < 0 {
		return -1
	}

	return max(r.Times, 1)
}

// describe describes a reply so that a person recognizes it.
func (r *Reply) describe() string {
	switch {
	case len(r.ToolCalls) > 0:
		names := make([]string, len(r.ToolCalls))
		for i, call := range r.ToolCalls {
			names[i] = call.Name
		}

		return "calls " + list(names)
	case r.Text != "":
		return fmt.Sprintf("text %q", short(r.Text, shortReply))
	case r.Chunks != nil:
		return fmt.Sprintf("%d chunks", len(r.Chunks))
	case r.Err != nil:
		return fmt.Sprintf("error %q", short(r.Err.Error(), shortReply))
	case r.Fault != nil:
		return "fault " + string(r.Fault.Kind)
	case r.Hang:
		return "hangs"
	default:
		return "empty"
	}
}
