package openai

import (
	"encoding/json"
	"fmt"
	"slices"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

// keptResponse is a response that the caller allows to be stored: its conversation can be continued by
// previous_response_id, and its output items can be referenced.
type keptResponse struct {
	// previous is the ID of the response that this one continues, or "".
	previous string
	// items are its input and output.
	items []inputItem
}

// history returns the conversation that a request continues.
func (r *responseRequest) history(x *exchange.Exchange) ([]inputItem, *problem) {
	var chain []*keptResponse

	for id := r.PreviousResponseID; id != ""; {
		kept, ok := x.Store().Get(x.Entry.Lane, id).(*keptResponse)
		if !ok {
			return nil, invalid("previous_response_id", "previous_response_not_found",
				"Previous response with id '%s' not found. This server keeps the responses of this run unless they have 'store' set to false.", id)
		}

		chain = append(chain, kept)
		id = kept.previous
	}

	var items []inputItem
	for _, kept := range slices.Backward(chain) {
		items = append(items, kept.items...)
	}

	return items, nil
}

// resolve replaces item references with the items.
func resolve(x *exchange.Exchange, items []inputItem) *problem {
	for i := range items {
		if !items[i].refers() {
			continue
		}

		kept, ok := x.Store().Get(x.Entry.Lane, items[i].ID).(*inputItem)
		if !ok {
			return invalid(fmt.Sprintf("input[%d]", i), "",
				"Item with id '%s' not found. Items are not persisted when 'store' is set to false; this server keeps those of this run.", items[i].ID)
		}

		items[i] = *kept
	}

	return nil
}

// refers reports whether an item is only a reference to one that was sent before. Its type can be omitted.
func (i *inputItem) refers() bool {
	return i.Type == "item_reference" || (i.Type == "" && i.Role == "" && i.ID != "")
}

// keep stores a finished response before the caller sees its end.
func (e *responseEncoder) keep() {
	if e.request.Store != nil && !*e.request.Store {
		return
	}

	x, lane := e.exchange, e.exchange.Entry.Lane
	kept := &keptResponse{previous: e.request.PreviousResponseID, items: e.request.Input.all()}

	for n := range e.items {
		made := e.items[n].input()
		kept.items = append(kept.items, made)
		x.Store().Put(lane, made.ID, &made, made.size())
	}

	size := len(e.id)
	for i := range kept.items {
		size += kept.items[i].size()
	}

	x.Store().Put(lane, string(e.id), kept, size)
}

// all returns the items of an input; a text is a user message.
func (in *input) all() []inputItem {
	if in.items == nil {
		return []inputItem{{Type: "message", Role: "user", Content: content{text: in.text, set: true}}}
	}

	return append([]inputItem(nil), in.items...)
}

// input converts an output item to an input item of a later request.
func (i *item) input() inputItem {
	in := inputItem{Type: "message", ID: string(i.id)}

	switch i.kind {
	case kindReasoning:
		in.Type = "reasoning"
		_ = json.Unmarshal(i.secret, &in.EncryptedContent) // it is a JSON string
	case kindCall:
		in.Type, in.CallID, in.Name, in.Arguments = "function_call", i.call.ID, i.call.Name, argument(i.text)
	case kindCustom:
		in.Type, in.CallID, in.Name, in.Input = "custom_tool_call", i.call.ID, i.call.Name, argument(i.text)
	case kindRun:
		in.Type, in.CallID, in.Arguments = i.run.item, i.call.ID, argument(i.text)
	case kindSearch:
		in.Type = "web_search_call"
	case kindCode:
		in.Type = "code_interpreter_call"
	case kindMessage:
		in.Role, in.Content = "assistant", content{text: i.text, set: true}
	}

	return in
}

// size returns the approximate size of an item in bytes.
func (i *inputItem) size() int {
	const fixed = 256

	return fixed + len(i.ID) + len(i.Content.text) + len(i.Name) + len(i.Arguments) + len(i.Input) + len(i.Action) + len(i.Operation) +
		len(i.Output) + len(i.Tools) + len(i.EncryptedContent)
}
