package openai

import (
	"encoding/json"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// itemRole is the role of an input item in the conversation.
type itemRole byte

const (
	roleMessage itemRole = iota + 1
	roleReasoning
	// roleCall is a call that requires an item with its output; roleProvider is the provider's own work.
	roleCall
	roleOutput
	roleProvider
	// roleTools makes tools available; roleControl is for the provider, and scripts do not see it.
	roleTools
	roleControl
)

// itemRoles maps the types of items to roles. An item without a type is a message.
var itemRoles = map[string]itemRole{
	"": roleMessage, "message": roleMessage, "agent_message": roleMessage,
	"reasoning": roleReasoning,

	"function_call": roleCall, "custom_tool_call": roleCall, "local_shell_call": roleCall, "shell_call": roleCall,
	"apply_patch_call": roleCall, "tool_search_call": roleCall, "computer_call": roleCall,

	"function_call_output": roleOutput, "custom_tool_call_output": roleOutput, "local_shell_call_output": roleOutput,
	"shell_call_output": roleOutput, "apply_patch_call_output": roleOutput, "tool_search_output": roleOutput,
	"computer_call_output": roleOutput,

	"web_search_call": roleProvider, "code_interpreter_call": roleProvider, "file_search_call": roleProvider,
	"image_generation_call": roleProvider, "mcp_call": roleProvider, "mcp_list_tools": roleProvider,
	"mcp_approval_request": roleProvider, "program": roleProvider, "program_output": roleProvider,

	"additional_tools": roleTools,

	"mcp_approval_response": roleControl, "compaction": roleControl, "compaction_summary": roleControl,
	"context_compaction": roleControl, "compaction_trigger": roleControl, "configuration_update": roleControl,
}

// noun returns the item's type in words.
func (i *inputItem) noun() string { return strings.ReplaceAll(i.Type, "_", " ") }

// call returns the call that an item makes. Tools that the provider describes are named after the type of their calls.
func (i *inputItem) call() llm.ToolCall {
	call := llm.ToolCall{ID: i.CallID, Name: i.Name}

	for _, arguments := range []argument{i.Arguments, i.Input, i.Action, i.Operation} {
		if arguments != "" {
			call.Arguments = string(arguments)

			break
		}
	}

	if i.Type != "function_call" && i.Type != "custom_tool_call" {
		call.Name = strings.TrimSuffix(i.Type, "_call")
	}

	if call.ID == "" && i.Type == "local_shell_call" {
		call.ID = i.ID
	}

	return call
}

// result returns a tool's output as scripts see it: its text, or JSON if it has another format.
func (i *inputItem) result(where string) (string, *problem) {
	optional := i.Type == "apply_patch_call_output" || i.Type == "tool_search_output"

	if !given(i.Output) {
		if optional {
			return string(i.Tools), nil
		}

		return "", missing(where + ".output")
	}

	if i.Type != "function_call_output" && i.Type != "custom_tool_call_output" && i.Output[0] != '"' {
		return string(i.Output), nil
	}

	var output content
	if err := json.Unmarshal(i.Output, &output); err != nil {
		output.wrong = "expected a string or an array of content parts"
	}

	return output.text, output.check(where + ".output")
}
