package anthropic

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
	"tarsy.dev/tarsy/llm"
)

// thread makes the API keep the conversation: a request either sends all of it, to be kept, or only what is new since an
// answer, whose ID identifies the kept conversation.
type thread struct {
	Type              string `json:"type"`
	PreviousMessageID string `json:"previous_message_id"`
}

// keptThread is a conversation as of an answer. The real API forgets it after minutes, this server at the end of the run or
// of its lane.
type keptThread struct {
	system   content
	tools    []tool
	messages []message
	// size is its approximate size in bytes.
	size int
}

const (
	threadCreate   = "create"
	threadContinue = "continue"
)

// resume completes a request that continues a thread. The thread's system text and tools replace those of the request.
func (r *request) resume(x *exchange.Exchange) *llm.Error {
	switch {
	case r.Thread == nil || r.Thread.Type == threadCreate:
		return nil
	case r.Thread.Type != threadContinue:
		return unknownTag("thread", r.Thread.Type, []string{threadContinue, threadCreate})
	case r.Thread.PreviousMessageID == "":
		return invalid("thread.continue.previous_message_id: Field required")
	case r.Messages == nil:
		return invalid("messages: Field required")
	}

	kept, ok := x.Store().Get(x.Entry.Lane, r.Thread.PreviousMessageID).(*keptThread)
	if !ok {
		return &llm.Error{
			Class: llm.ClassInvalid, Status: http.StatusNotFound, Code: "thread_not_found",
			Message: "No thread state was found for the requested `previous_message_id`. Send the full conversation with thread: {\"type\": \"create\"}.",
		}
	}

	r.System, r.Tools, r.resumed = kept.system, kept.tools, kept
	r.Messages = append(slices.Clip(kept.messages), r.Messages...)

	return nil
}

// keep stores the conversation with its answer before the caller sees the end of the answer.
func (e *encoder) keep() {
	r := e.threaded
	if r == nil {
		return
	}

	kept := &keptThread{system: r.System, tools: r.Tools, messages: slices.Clip(r.Messages), size: len(e.exchange.Body)}
	if r.resumed != nil {
		kept.size += r.resumed.size
	}

	e.reply = slices.DeleteFunc(e.reply, func(b block) bool { return b.Type == "text" && strings.TrimSpace(b.Text) == "" })
	if len(e.reply) > 0 {
		kept.messages = append(kept.messages, message{Role: llm.RoleAssistant, Content: content{given: true, blocks: e.reply}})
	}

	for i := range e.reply {
		e.sealThinking(&e.reply[i], i == 0)
		kept.size += len(e.reply[i].Text) + len(e.reply[i].Thinking) + len(e.reply[i].Input)
	}

	e.exchange.Store().Put(e.exchange.Entry.Lane, string(e.id.append(nil, "msg_", 0)), kept, kept.size)
}

// sealThinking gives thinking the signature that was sent with it.
func (e *encoder) sealThinking(b *block, first bool) {
	if b.Type != "thinking" {
		return
	}

	if b.Signature = derive(b.Thinking); first && e.exchange.Signature != "" {
		b.Signature = e.exchange.Signature
	}
}

// remember adds a piece of the answer to the thread.
func (e *encoder) remember(b block) {
	if e.threaded == nil {
		return
	}

	if n := len(e.reply); n > 0 && b.Type != "tool_use" && e.reply[n-1].Type == b.Type {
		e.reply[n-1].Text += b.Text
		e.reply[n-1].Thinking += b.Thinking

		return
	}

	e.reply = append(e.reply, b)
}

// called adds a call to the thread and returns its ID.
func (e *encoder) called(call llm.ToolCall) string {
	e.calls++
	id := e.callID(call)

	input := json.RawMessage(call.Arguments)
	if len(input) == 0 || input[0] != '{' || !json.Valid(input) {
		input = json.RawMessage("{}")
	}

	e.remember(block{Type: "tool_use", ID: id, Name: call.Name, Input: input})

	return id
}

// unknownTag returns the error of an object whose type the API does not know.
func unknownTag(where, tag string, known []string) *llm.Error {
	return invalid(fmt.Sprintf("%s: Input tag '%s' found using 'type' does not match any of the expected tags: '%s'",
		where, tag, strings.Join(known, "', '")))
}
