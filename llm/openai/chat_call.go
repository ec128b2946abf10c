package openai

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// callPiece is a piece of a tool call.
type callPiece struct {
	Index    wire.Count `json:"index"`
	ID       wire.Text  `json:"id"`
	Function struct {
		Name      wire.Text `json:"name"`
		Arguments wire.Text `json:"arguments"`
	} `json:"function"`
}

// callList assembles tool calls from their pieces. According to the specification, a piece names its call by index, and the
// first one has its id and name. Servers that differ send a whole call in one piece, the same index for every call, the id with
// each piece, or no id at all.
type callList struct {
	calls []*partialCall
}

type partialCall struct {
	index     wire.Count
	id        string
	name      string
	arguments strings.Builder
}

func (l *callList) add(piece *callPiece) {
	call := l.find(piece)
	if call == nil {
		call = &partialCall{index: piece.Index}
		l.calls = append(l.calls, call)
	}

	if call.id == "" {
		call.id = string(piece.ID)
	}

	if call.name == "" {
		call.name = string(piece.Function.Name)
	}

	call.arguments.WriteString(string(piece.Function.Arguments))
}

// find returns the call that a piece belongs to, nil for a new one.
func (l *callList) find(piece *callPiece) *partialCall {
	if piece.ID != "" {
		for _, call := range l.calls {
			if call.id == string(piece.ID) {
				return call
			}
		}
	}

	for _, call := range slices.Backward(l.calls) {
		if call.index != piece.Index {
			continue
		}

		another := piece.ID != "" && call.id != ""
		next := piece.Function.Name != "" && call.name != "" && json.Valid([]byte(call.arguments.String()))

		if another || next {
			return nil
		}

		return call
	}

	return nil
}

// whole returns all calls. Those without an id get one that is unique in the conversation, of which this answer is the given turn.
func (l *callList) whole(turn int, names llm.ToolNames) []llm.ToolCall {
	var calls []llm.ToolCall

	for i, part := range l.calls {
		if part.name == "" && part.arguments.Len() == 0 {
			continue
		}

		call := llm.ToolCall{ID: part.id, Name: names.Name(part.name), Arguments: part.arguments.String()}
		if call.ID == "" {
			call.ID = fmt.Sprintf("call_%d_%d", turn, i+1)
		}

		if strings.TrimSpace(call.Arguments) == "" {
			call.Arguments = "{}"
		}

		calls = append(calls, call)
	}

	return calls
}

// complete drops the last call if the answer was cut off in the middle of it.
func complete(calls []llm.ToolCall) []llm.ToolCall {
	if n := len(calls); n > 0 && !json.Valid([]byte(calls[n-1].Arguments)) {
		return calls[:n-1]
	}

	return calls
}
