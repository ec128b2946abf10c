package openai

import (
	"encoding/json"
	"fmt"

	"tarsy.dev/tarsy/llm"
)

// input is the input of a model: a text, or items.
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

// inputItem is one item of any type.
type inputItem struct {
	Type             string  `json:"type"`
	ID               string  `json:"id"`
	Role             string  `json:"role"`
	Content          content `json:"content"`
	CallID           string  `json:"call_id"`
	Name             string  `json:"name"`
	EncryptedContent string  `json:"encrypted_content"`
	// Arguments, Input, Action and Operation are the arguments of a call; which one is set depends on the tool.
	Arguments argument `json:"arguments"`
	Input     argument `json:"input"`
	Action    argument `json:"action"`
	Operation argument `json:"operation"`
	// Output is the output of a tool, in a special format for some tools.
	Output json.RawMessage `json:"output"`
	// Tools are the tools that become available.
	Tools json.RawMessage `json:"tools"`
}

// argument is a text, or any other JSON as text.
type argument string

// UnmarshalJSON implements json.Unmarshaler.
func (a *argument) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(data, (*string)(a))
	default:
		*a = argument(data)

		return nil
	}
}

// conversation combines items into messages: consecutive reasoning, text and calls of the assistant are one message.
type conversation struct {
	request *responseRequest
	asked   *llm.Request
	// open are the calls without a result.
	open calls
	// turn means that the last message is the assistant's and can be continued.
	turn bool
	// thought is the ID of reasoning whose following item is still missing.
	thought string
}

// readInput reads the conversation: the history of a previous response, then the input. Instructions apply to one request
// only.
func (r *responseRequest) readInput(asked *llm.Request, history []inputItem) *problem {
	if r.Instructions != nil && *r.Instructions != "" {
		asked.Messages = append(asked.Messages, llm.Message{Role: llm.RoleSystem, Content: *r.Instructions})
	}

	c := &conversation{request: r, asked: asked, open: calls{}}
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

	switch itemRoles[item.Type] {
	case roleMessage:
		return c.addMessage(item, where)
	case roleReasoning:
		c.addReasoning(item)
	case roleCall:
		return c.addCall(item, where)
	case roleOutput:
		return c.addResult(item, where)
	case roleProvider:
		// The text that followed reflects what the provider did itself.
		c.assistant()
		c.thought = ""
	case roleTools:
		return c.request.readTools(c.asked, item.Tools, where+".tools")
	case roleControl:
		return c.endTurn()
	default:
		return invalid(where+".type", "invalid_value", "Invalid value: '%s' for '%s.type': this server does not know such items.", item.Type, where)
	}

	return nil
}

func (c *conversation) addReasoning(item *inputItem) {
	message := c.assistant()
	c.thought = item.ID

	// If there are several, the first has the script's signature.
	if item.EncryptedContent != "" && message.Signature == nil {
		data, _ := json.Marshal(item.EncryptedContent) //nolint:errchkjson // a string
		message.Signature = &llm.Signature{By: "wire", Data: data}
	}
}

func (c *conversation) addMessage(item *inputItem, where string) *problem {
	if !item.Content.set {
		return missing(where + ".content")
	}

	role := item.Role
	if item.Type == "agent_message" {
		role = llm.RoleUser
	}

	switch role {
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
			"Invalid value: '%s' for '%s.role'. Supported values are: 'assistant', 'system', 'developer', and 'user'.", role, where)
	}

	c.asked.Messages = append(c.asked.Messages, llm.Message{Role: role, Content: item.Content.text})

	return c.endTurn()
}

func (c *conversation) addCall(item *inputItem, where string) *problem {
	call := item.call()

	switch {
	case call.ID == "" && item.Type == "tool_search_call":
		// The provider searched.
		c.assistant()

		return nil
	case call.ID == "" || call.Name == "":
		return invalid(where, "missing_required_parameter", "'%s' is a %s without call_id or name.", where, item.noun())
	}

	message := c.assistant()
	message.ToolCalls = append(message.ToolCalls, call)
	c.open[call.ID] = call.Name
	c.thought = ""

	return nil
}

func (c *conversation) addResult(item *inputItem, where string) *problem {
	id := item.CallID
	if id == "" && item.Type == "local_shell_call_output" {
		id = item.ID
	}

	name, ok := c.open[id]

	switch {
	case id == "" && item.Type == "tool_search_output":
		return c.request.readTools(c.asked, item.Tools, where+".tools")
	case id == "" && item.Name != "":
		name = item.Name
	case !ok:
		return invalid("input", "", "No tool call found for %s with call_id %s ('%s').", item.noun(), id, where)
	}

	text, p := item.result(where)
	if p != nil {
		return p
	}

	delete(c.open, id)
	c.asked.Messages = append(c.asked.Messages, llm.Message{Role: llm.RoleTool, Content: text, ToolCallID: id, ToolName: name})

	if p := c.request.readTools(c.asked, item.Tools, where+".tools"); p != nil {
		return p
	}

	return c.endTurn()
}

// assistant returns the assistant's message that is being continued, or a new one.
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
