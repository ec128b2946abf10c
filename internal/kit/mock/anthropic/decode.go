package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// decode converts a request to the one that a script answers.
func (r *request) decode() *llm.Request {
	out := &llm.Request{Model: r.Model, Stop: r.StopSequences, ReasoningEffort: r.effort(), ResponseSchema: r.schema()}
	if r.MaxTokens != nil {
		out.MaxOutputTokens = *r.MaxTokens
	}

	for _, t := range r.Tools {
		// Tools that must not be called only explain the conversation.
		if r.ToolChoice != nil && r.ToolChoice.Type == "none" {
			break
		}

		switch {
		case strings.HasPrefix(t.Type, "web_search_"):
			out.NativeTools.GoogleSearch = true
		case strings.HasPrefix(t.Type, "web_fetch_"):
			out.NativeTools.URLContext = true
		case strings.HasPrefix(t.Type, "code_execution_"):
			out.NativeTools.CodeExecution = true
		case t.Name == "":
			// A set of tools that the API itself names.
		default:
			out.Tools = append(out.Tools, t.declared())
		}
	}

	out.Messages = make([]llm.Message, 0, len(r.System.blocks)+len(r.Messages))
	for _, b := range r.System.blocks {
		out.Messages = append(out.Messages, llm.Message{Role: llm.RoleSystem, Content: b.Text})
	}

	names := map[string]string{}

	for i := range r.Messages {
		r.Messages[i].changeTools(out)

		if r.Messages[i].Role == llm.RoleAssistant {
			out.Messages = append(out.Messages, r.Messages[i].assistant(names))
		} else {
			out.Messages = r.Messages[i].user(out.Messages, names)
		}
	}

	return out
}

func (t tool) declared() llm.Tool {
	return llm.Tool{Name: t.Name, Description: t.Description, Schema: t.InputSchema}
}

// changeTools applies the tools that a message in the middle of the conversation adds and removes.
func (m *message) changeTools(out *llm.Request) {
	for _, b := range m.Content.blocks {
		if b.Tool == nil {
			continue
		}

		name := b.Tool.Name
		if b.Tool.Definition != nil {
			name = b.Tool.Definition.Name
		}

		if b.Type == "tool_removal" || b.Tool.Definition != nil {
			out.Tools = slices.DeleteFunc(out.Tools, func(t llm.Tool) bool { return t.Name == name })
		}

		if b.Type == "tool_addition" && b.Tool.Definition != nil && name != "" {
			out.Tools = append(out.Tools, b.Tool.Definition.declared())
		}
	}
}

// effort returns how hard the model should think. A budget becomes the effort that usually corresponds to it.
func (r *request) effort() string {
	const low, medium = 4096, 16384

	switch {
	case r.OutputConfig != nil && r.OutputConfig.Effort != "":
		return r.OutputConfig.Effort
	case r.Thinking == nil || r.Thinking.BudgetTokens == nil:
		return ""
	case *r.Thinking.BudgetTokens <= low:
		return "low"
	case *r.Thinking.BudgetTokens <= medium:
		return "medium"
	default:
		return "high"
	}
}

func (r *request) schema() json.RawMessage {
	switch {
	case r.OutputConfig != nil && r.OutputConfig.Format != nil:
		return r.OutputConfig.Format.Schema
	case r.OutputFormat != nil:
		return r.OutputFormat.Schema
	default:
		return nil
	}
}

// assistant converts an earlier answer, and adds the tools that it calls to names.
func (m *message) assistant(names map[string]string) llm.Message {
	out := llm.Message{Role: llm.RoleAssistant}

	var (
		texts      []string
		signatures []string
	)

	for _, b := range m.Content.blocks {
		switch b.Type {
		case "text":
			texts = append(texts, b.Text)
		case "compaction":
			texts = append(texts, summaryText(b.Content))
		case "thinking":
			signatures = append(signatures, b.Signature)
		case "redacted_thinking":
			signatures = append(signatures, b.Data)
		case "tool_use":
			names[b.ID] = b.Name
			out.ToolCalls = append(out.ToolCalls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
		}
	}

	out.Content = strings.Join(texts, "")
	out.Signature = wireSignature(signatures)

	return out
}

// user appends a user message: the tool results, which are separate messages here, then the text.
func (m *message) user(to []llm.Message, names map[string]string) []llm.Message {
	var texts []string

	for _, b := range m.Content.blocks {
		if b.Type == "tool_result" {
			to = append(to, llm.Message{
				Role: llm.RoleTool, Content: resultText(b.Content), ToolCallID: b.ToolUseID, ToolName: names[b.ToolUseID],
			})

			continue
		}

		texts = appendText(texts, b)
	}

	if len(texts) > 0 {
		to = append(to, llm.Message{Role: m.Role, Content: strings.Join(texts, "\n")})
	}

	return to
}

// appendText appends what a script sees of a block: its text, or its type.
func appendText(texts []string, b block) []string {
	switch b.Type {
	case "text":
		return append(texts, b.Text)
	case "tool_addition", "tool_removal":
		// The request's tools already reflect these.
		return texts
	default:
		return append(texts, "["+b.Type+"]")
	}
}

func resultText(raw json.RawMessage) string {
	var (
		result content
		texts  []string
	)

	if len(raw) == 0 || json.Unmarshal(raw, &result) != nil {
		return string(raw)
	}

	for _, b := range result.blocks {
		texts = appendText(texts, b)
	}

	return strings.Join(texts, "\n")
}
