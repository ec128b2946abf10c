package anthropic

import (
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// blockTypes are the types of content blocks that the API accepts.
var blockTypes = []string{
	"advisor_tool_result", "bash_code_execution_tool_result", "code_execution_tool_result", "compaction", "container_upload", "document",
	"fallback", "image", "mcp_tool_listing", "mcp_tool_result", "mcp_tool_use", "redacted_thinking", "search_result", "server_tool_use", "text",
	"text_editor_code_execution_tool_result", "thinking", "tool_addition", "tool_removal", "tool_result", "tool_search_tool_result",
	"tool_use", "web_fetch_tool_result", "web_search_tool_result",
}

// maxBreakpoints is how many blocks can be marked for the cache.
const maxBreakpoints = 4

// checkLimits rejects values that the API does not accept, whatever the model.
func (r *request) checkLimits() *llm.Error {
	for _, check := range []func() *llm.Error{
		r.checkNumbers, r.checkWords, r.checkSampling, r.checkToolChoice, r.checkStops, r.checkCache,
	} {
		if err := check(); err != nil {
			return err
		}
	}

	return nil
}

func (r *request) checkNumbers() *llm.Error {
	for _, n := range []struct {
		name  string
		value *float64
		// most is zero if there is no upper limit.
		most float64
	}{{"temperature", r.Temperature, 1}, {"top_p", r.TopP, 1}, {"top_k", r.TopK, 0}} {
		switch {
		// Older clients send -1 for an unset value.
		case n.value == nil || *n.value == -1:
		case *n.value < 0:
			return invalid(n.name + ": Input should be greater than or equal to 0")
		case n.most > 0 && *n.value > n.most:
			return invalid(fmt.Sprintf("%s: Input should be less than or equal to %v", n.name, n.most))
		}
	}

	return nil
}

func (r *request) checkWords() *llm.Error {
	effort, format := "", r.OutputFormat
	if r.OutputConfig != nil {
		effort = r.OutputConfig.Effort
		if r.OutputConfig.Format != nil {
			format = r.OutputConfig.Format
		}
	}

	switch {
	case !oneOf(r.ServiceTier, "auto", "standard_only"):
		return invalid("service_tier: Input should be 'auto' or 'standard_only'")
	case !oneOf(effort, "low", "medium", "high", "xhigh", "max"):
		return invalid("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	case r.Thinking != nil && !oneOf(r.Thinking.Type, "adaptive", "between_tools", "disabled", "enabled"):
		return unknownTag("thinking", r.Thinking.Type, []string{"adaptive", "between_tools", "disabled", "enabled"})
	case r.Compaction != nil && r.Compaction.Type != "summarize":
		return unknownTag("compaction", r.Compaction.Type, []string{"summarize"})
	case format == nil:
		return nil
	case format.Type != "json_schema":
		return invalid("output_config.format.type: Input should be 'json_schema'")
	case len(format.Schema) == 0:
		return invalid("output_config.format.schema: Field required")
	default:
		return nil
	}
}

// oneOf reports whether a value is empty or one of several words.
func oneOf(value string, words ...string) bool { return value == "" || slices.Contains(words, value) }

// checkSampling rejects what thinking rules out.
func (r *request) checkSampling() *llm.Error {
	const leastTopP = 0.95

	if r.Thinking == nil || (r.Thinking.Type != "enabled" && r.Thinking.Type != "adaptive") {
		return nil
	}

	switch forced := r.ToolChoice != nil && (r.ToolChoice.Type == "any" || r.ToolChoice.Type == "tool"); {
	case r.Temperature != nil && *r.Temperature != 1:
		return invalid("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")
	case r.TopP != nil && *r.TopP < leastTopP:
		return invalid("`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.")
	case r.TopK != nil:
		return invalid("`top_k` must be unset when thinking is enabled or in adaptive mode.")
	case forced && r.Thinking.Type == "enabled":
		return invalid("Thinking may not be enabled when tool_choice forces tool use.")
	default:
		return nil
	}
}

func (r *request) checkToolChoice() *llm.Error {
	if r.ToolChoice == nil {
		return nil
	}

	named := slices.ContainsFunc(r.Tools, func(t tool) bool { return t.Name == r.ToolChoice.Name })

	switch r.ToolChoice.Type {
	case "auto", "none":
		return nil
	case "any", "tool":
	default:
		return unknownTag("tool_choice", r.ToolChoice.Type, []string{"any", "auto", "none", "tool"})
	}

	switch {
	case len(r.Tools) == 0:
		return invalid("tool_choice: tool_choice may only be specified while providing tools")
	case r.ToolChoice.Type == "any":
		return nil
	case r.ToolChoice.Name == "":
		return invalid("tool_choice.tool.name: Field required")
	case !named:
		return invalid(fmt.Sprintf("Tool '%s' not found in provided tools", r.ToolChoice.Name))
	default:
		return nil
	}
}

func (r *request) checkStops() *llm.Error {
	for _, stop := range r.StopSequences {
		if strings.TrimSpace(stop) == "" {
			return invalid("stop_sequences: each stop sequence must contain non-whitespace")
		}
	}

	return nil
}

// marks returns the cache marks, without those that a thread has from earlier requests.
func (r *request) marks() []*cacheControl {
	marks, sent := []*cacheControl{r.CacheControl}, r.Messages

	if r.resumed != nil {
		sent = sent[len(r.resumed.messages):]
	} else {
		for _, t := range r.Tools {
			marks = append(marks, t.CacheControl)
		}

		for _, b := range r.System.blocks {
			marks = append(marks, b.CacheControl)
		}
	}

	for i := range sent {
		for _, b := range sent[i].Content.blocks {
			marks = append(marks, b.CacheControl)
		}
	}

	return slices.DeleteFunc(marks, func(c *cacheControl) bool { return c == nil })
}

// checkCache checks the cache marks and their number.
func (r *request) checkCache() *llm.Error {
	marks := r.marks()

	for _, mark := range marks {
		switch {
		case mark.Type != "ephemeral":
			return unknownTag("cache_control", mark.Type, []string{"ephemeral"})
		case !oneOf(mark.TTL, "5m", "1h"):
			return invalid("cache_control.ephemeral.ttl: Input should be '5m' or '1h'")
		}
	}

	if len(marks) > maxBreakpoints {
		return invalid(fmt.Sprintf("A maximum of %d blocks with cache_control may be provided. Found %d.", maxBreakpoints, len(marks)))
	}

	return nil
}

// checkImage returns what is wrong with an image, starting with the path of the field, or "".
func checkImage(source *imageSource) string {
	switch {
	case source == nil:
		return ".image.source: Field required"
	case !slices.Contains([]string{"base64", "file", "url"}, source.Type):
		return fmt.Sprintf(".image.source: Input tag '%s' found using 'type' does not match any of the expected tags: 'base64', 'file', 'url'", source.Type)
	case source.Type == "base64" && !slices.Contains([]string{"image/jpeg", "image/png", "image/gif", "image/webp"}, source.MediaType):
		return ".image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'"
	default:
		return ""
	}
}
