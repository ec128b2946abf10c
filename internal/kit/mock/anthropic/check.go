package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

var toolName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

// check rejects what the API rejects, as far as the request alone shows it.
func (r *request) check(counting bool) *llm.Error {
	switch {
	case r.Model == "":
		return invalid("model: Field required")
	case r.MaxTokens == nil && !counting:
		return invalid("max_tokens: Field required")
	case r.MaxTokens != nil && *r.MaxTokens < 0:
		return invalid("max_tokens: Input should be greater than or equal to 0")
	case r.Messages == nil:
		return invalid("messages: Field required")
	case len(r.Messages) == 0:
		return invalid("messages: at least one message is required")
	}

	for _, check := range []func() *llm.Error{r.checkThinking, r.checkTools, r.checkLimits, r.checkSystem} {
		if err := check(); err != nil {
			return err
		}
	}

	for i := range r.Messages {
		if err := checkMessage(i, &r.Messages[i], i == len(r.Messages)-1); err != nil {
			return err
		}
	}

	return checkPairs(r.Messages)
}

func (r *request) checkThinking() *llm.Error {
	const least = 1024

	if r.Thinking == nil || r.Thinking.Type != "enabled" {
		return nil
	}

	budget := r.Thinking.BudgetTokens

	switch {
	case budget == nil:
		return invalid("thinking.enabled.budget_tokens: Field required")
	case *budget < least:
		return invalid("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case r.MaxTokens != nil && *r.MaxTokens <= *budget && !r.interleaved:
		return invalid("`max_tokens` must be greater than `thinking.budget_tokens`.")
	default:
		return nil
	}
}

func (r *request) checkTools() *llm.Error {
	names := make(map[string]bool, len(r.Tools))

	for i, t := range r.Tools {
		// The API names some of its own tools itself.
		if !t.custom() && t.Name == "" {
			continue
		}

		if !toolName.MatchString(t.Name) {
			return invalid(fmt.Sprintf("tools.%d.custom.name: String should match pattern '%s'", i, toolName))
		}

		if names[t.Name] {
			return invalid("tools: Tool names must be unique.")
		}

		names[t.Name] = true

		if !t.custom() {
			continue
		}

		if len(t.InputSchema) == 0 {
			return invalid(fmt.Sprintf("tools.%d.custom.input_schema: Field required", i))
		}

		var schema struct {
			Type string `json:"type"`
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return invalid(fmt.Sprintf("tools.%d.custom.input_schema.type: Input should be 'object'", i))
		}
	}

	return nil
}

// custom reports whether the caller describes and runs the tool.
func (t tool) custom() bool { return t.Type == "" || t.Type == "custom" }

func checkMessage(at int, m *message, last bool) *llm.Error {
	if m.Role != llm.RoleUser && m.Role != llm.RoleAssistant && m.Role != llm.RoleSystem {
		return invalid(fmt.Sprintf("messages.%d.role: Input should be 'user', 'assistant' or 'system'", at))
	}

	if !m.Content.given {
		return invalid(fmt.Sprintf("messages.%d.content: Field required", at))
	}

	if len(m.Content.blocks) == 0 && (!last || m.Role != llm.RoleAssistant) {
		return invalid(fmt.Sprintf("messages.%d: all messages must have non-empty content except for the optional final assistant message", at))
	}

	for i := range m.Content.blocks {
		b, where := &m.Content.blocks[i], fmt.Sprintf("messages.%d.content.%d", at, i)

		if b.Type != "" && !slices.Contains(blockTypes, b.Type) {
			return unknownTag(where, b.Type, blockTypes)
		}

		if message := checkBlock(m.Role, b); message != "" {
			return invalid(where + message)
		}
	}

	return checkPrefill(m, last)
}

// checkPrefill checks the start of an answer that the model is to continue.
func checkPrefill(m *message, last bool) *llm.Error {
	n := len(m.Content.blocks)
	if !last || m.Role != llm.RoleAssistant || n == 0 {
		return nil
	}

	if text := m.Content.blocks[n-1].Text; text != strings.TrimRight(text, " \t\r\n") {
		return invalid("messages: final assistant content cannot end with trailing whitespace")
	}

	return nil
}

func (r *request) checkSystem() *llm.Error {
	for i, b := range r.System.blocks {
		if b.Type != "text" {
			return invalid(fmt.Sprintf("system.%d.type: Input should be 'text'", i))
		}
	}

	return nil
}

// checkBlock returns what is wrong with a block, starting with the path of the field, or "".
func checkBlock(role string, b *block) string {
	switch b.Type {
	case "":
		return ".type: Field required"
	case "text":
		switch {
		case b.Text == "":
			return ": text content blocks must be non-empty"
		case strings.TrimSpace(b.Text) == "":
			return ": text content blocks must contain non-whitespace text"
		}
	case "tool_use":
		return checkToolUse(role, b)
	case "tool_result":
		switch {
		case b.ToolUseID == "":
			return ".tool_result.tool_use_id: Field required"
		case role != llm.RoleUser:
			return ": `tool_result` blocks can only be in `user` messages"
		}
	case "thinking":
		switch {
		case b.Signature == "":
			return ".thinking.signature: Field required"
		case forged(b.Thinking, b.Signature):
			return ": Invalid `signature` in `thinking` block"
		}
	case "image":
		return checkImage(b.Source)
	case "redacted_thinking":
		if b.Data == "" {
			return ".redacted_thinking.data: Field required"
		}
	}

	return ""
}

func checkToolUse(role string, b *block) string {
	switch {
	case b.ID == "":
		return ".tool_use.id: Field required"
	case !toolName.MatchString(b.ID):
		return fmt.Sprintf(".tool_use.id: String should match pattern '%s'", toolName)
	case !toolName.MatchString(b.Name):
		return fmt.Sprintf(".tool_use.name: String should match pattern '%s'", toolName)
	case len(b.Input) == 0 || b.Input[0] != '{':
		return ".tool_use.input: Input should be a valid dictionary"
	case role != llm.RoleAssistant:
		return ": `tool_use` blocks can only be in `assistant` messages"
	default:
		return ""
	}
}

// checkPairs rejects calls without results in the next message, and results without calls in the previous one.
func checkPairs(messages []message) *llm.Error {
	var open []string

	used := map[string]bool{}

	for i := range messages {
		m := &messages[i]

		answered := 0

		for j, b := range m.Content.blocks {
			switch b.Type {
			case "tool_use":
				if used[b.ID] {
					return invalid(fmt.Sprintf("messages.%d.content.%d: `tool_use` ids must be unique", i, j))
				}

				used[b.ID] = true
				open = append(open, b.ID)
			case "tool_result":
				at := slices.Index(open, b.ToolUseID)
				if at < 0 {
					return invalid(fmt.Sprintf("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. "+
						"Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, b.ToolUseID))
				}

				// Results come first in their message; the API does not see one after other content.
				if answered != j {
					return missing(i-1, open)
				}

				open = slices.Delete(open, at, at+1)
				answered++
			}
		}

		last := i == len(messages)-1
		if len(open) > 0 && (m.Role != llm.RoleAssistant || (last && !m.paused())) {
			return missing(max(i-1, 0), open)
		}
	}

	return nil
}

// paused reports whether an answer has an unfinished call that the API runs itself: the caller sends the answer back
// unchanged, and the model continues.
func (m *message) paused() bool {
	finished := map[string]bool{}
	for _, b := range m.Content.blocks {
		finished[b.ToolUseID] = true
	}

	return m.Role == llm.RoleAssistant && slices.ContainsFunc(m.Content.blocks, func(b block) bool {
		return (b.Type == "server_tool_use" || b.Type == "mcp_tool_use") && !finished[b.ID]
	})
}

func missing(at int, ids []string) *llm.Error {
	return invalid(fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. "+
		"Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, strings.Join(ids, ", ")))
}
