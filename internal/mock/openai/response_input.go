package openai

import (
	"encoding/json"
	"fmt"

	"tarsy.dev/tarsy/llm"
)

// input is what a model is given: a text, or items.
type input struct {
	text  string
	items []inputItem
	set   bool
}

// UnmarshalJSON implements json.Unmarshaler.
func (in *input) UnmarshalJSON(data []byte) error {
	if data[0] == 'n' {
		return nil
	}

	in.set = true

	if data[0] == '"' {
		return json.Unmarshal(data, &in.text)
	}

	return json.Unmarshal(data, &in.items)
}

// inputItem is one item, of whatever type.
type inputItem struct {
	Type             string  `json:"type"`
	ID               string  `json:"id"`
	Role             string  `json:"role"`
	Content          content `json:"content"`
	CallID           string  `json:"call_id"`
	Name             string  `json:"name"`
	Arguments        string  `json:"arguments"`
	Output           content `json:"output"`
	EncryptedContent string  `json:"encrypted_content"`
}

// conversation puts items together to messages: what the assistant thought, said and called in one go is one message.
type conversation struct {
	asked *llm.Request
	// open are the calls that have no result yet.
	open calls
	// turn tells that the last message is the assistant's and goes on.
	turn bool
	// thought is the id of the reasoning that still waits for what it belongs to.
	thought string
}

// readInput reads the conversation: what a previous response kept of it, then the input. Instructions are of one request only.
func (r *responseRequest) readInput(asked *llm.Request, history []inputItem) *problem {
	if r.Instructions != nil && *r.Instructions != "" {
		asked.Messages = append(asked.Messages, llm.Message{Role: llm.RoleSystem, Content: *r.Instructions})
	}

	c := &conversation{asked: asked, open: calls{}}
	for i := range history {
		if p := c.add(&history[i], "previous_response_id"); p != nil {
			return p
		}
	}

	var items []inputItem
	if r.Input.set {
		items = r.Input.all()
	}

	for i := range items {
		if p := c.add(&items[i], fmt.Sprintf("input[%d]", i)); p != nil {
			return p
		}
	}

	if p := c.endTurn(); p != nil {
		return p
	}

	for _, message := range asked.Messages {
		for _, call := range message.ToolCalls {
			if _, left := c.open[call.ID]; left {
				return invalid("input", "", "No tool output found for function call %s.", call.ID)
			}
		}
	}

	return nil
}

func (c *conversation) add(item *inputItem, where string) *problem {
	if p := item.Content.check(where + ".content"); p != nil {
		return p
	}

	if p := item.Output.check(where + ".output"); p != nil {
		return p
	}

	switch item.Type {
	case "message", "":
		return c.addMessage(item, where)
	case "reasoning":
		message := c.assistant()
		c.thought = item.ID

		// Of several the first has what the script gave.
		if item.EncryptedContent != "" && message.Signature == nil {
			data, _ := json.Marshal(item.EncryptedContent) //nolint:errchkjson // a string
			message.Signature = &llm.Signature{By: "wire", Data: data}
		}

		return nil
	case "function_call":
		return c.addCall(item, where)
	case "function_call_output":
		return c.addResult(item, where)
	case "web_search_call", "code_interpreter_call":
		// What the provider did itself is told by the text that followed.
		c.assistant()
		c.thought = ""

		return nil
	default:
		return invalid(where+".type", "invalid_value", "Invalid value: '%s' for '%s.type': this server does not know such items.", item.Type, where)
	}
}

func (c *conversation) addMessage(item *inputItem, where string) *problem {
	if !item.Content.set {
		return missing(where + ".content")
	}

	var role string

	switch item.Role {
	case "system", "developer":
		role = llm.RoleSystem
	case "user":
		role = llm.RoleUser
	case "assistant":
		c.assistant().Content += item.Content.text
		c.thought = ""

		return nil
	default:
		return invalid(where+".role", "invalid_value",
			"Invalid value: '%s' for '%s.role'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", item.Role, where)
	}

	c.asked.Messages = append(c.asked.Messages, llm.Message{Role: role, Content: item.Content.text})

	return c.endTurn()
}

func (c *conversation) addCall(item *inputItem, where string) *problem {
	if item.CallID == "" || item.Name == "" {
		return invalid(where, "missing_required_parameter", "'%s' is a function call without call_id or name.", where)
	}

	message := c.assistant()
	message.ToolCalls = append(message.ToolCalls, llm.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	c.open[item.CallID] = item.Name
	c.thought = ""

	return nil
}

func (c *conversation) addResult(item *inputItem, where string) *problem {
	name, ok := c.open[item.CallID]
	if !ok {
		return invalid("input", "", "No tool call found for function call output with call_id %s ('%s').", item.CallID, where)
	}

	if !item.Output.set {
		return missing(where + ".output")
	}

	delete(c.open, item.CallID)
	c.asked.Messages = append(c.asked.Messages,
		llm.Message{Role: llm.RoleTool, Content: item.Output.text, ToolCallID: item.CallID, ToolName: name})

	return c.endTurn()
}

// assistant is the assistant's message that goes on, or a new one.
func (c *conversation) assistant() *llm.Message {
	if !c.turn {
		c.turn = true
		c.asked.Messages = append(c.asked.Messages, llm.Message{Role: llm.RoleAssistant})
	}

	return &c.asked.Messages[len(c.asked.Messages)-1]
}

func (c *conversation) endTurn() *problem {
	c.turn = false

	if c.thought == "" {
		return nil
	}

	return invalid("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", c.thought)
}
