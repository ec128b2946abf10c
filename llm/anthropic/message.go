package anthropic

import "encoding/json"

// messageRequest is the body of a request. The order of its fields, and of theirs, must not change: signatures, which outlive
// the program, contain a digest of them.
type messageRequest struct {
	MaxTokens     int             `json:"max_tokens"`
	Messages      []turn          `json:"messages,omitempty"`
	Model         string          `json:"model,omitempty"`
	OutputConfig  *outputConfig   `json:"output_config,omitempty"`
	StopSequences []string        `json:"stop_sequences,omitempty"`
	System        []content       `json:"system,omitempty"`
	Thinking      *thinkingConfig `json:"thinking,omitempty"`
	ToolChoice    *toolChoice     `json:"tool_choice,omitempty"`
	Tools         []tool          `json:"tools,omitempty"`
	Stream        bool            `json:"stream"`
}

// The roles of turns.
const (
	roleUser      = "user"
	roleAssistant = "assistant"
)

// turn is one turn of the conversation.
type turn struct {
	Content []content `json:"content"`
	Role    string    `json:"role"`
}

// content is a block of a turn, or of the system text. Its fields depend on its type.
type content struct {
	ID           string          `json:"id,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	Name         string          `json:"name,omitempty"`
	Text         string          `json:"text,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Signature    *string         `json:"signature,omitempty"`
	Thinking     *string         `json:"thinking,omitempty"`
	Data         string          `json:"data,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
	Content      []content       `json:"content,omitempty"`
	Type         string          `json:"type"`
}

// The types of blocks, both in requests and in answers.
const (
	textType             = "text"
	thinkingType         = "thinking"
	redactedThinkingType = "redacted_thinking"
	toolUseType          = "tool_use"
	toolResultType       = "tool_result"
)

func textBlock(text string) content { return content{Type: textType, Text: text} }

// markable reports whether a block can be marked for the cache: thinking cannot.
func (c *content) markable() bool { return c.Type != thinkingType && c.Type != redactedThinkingType }

// cacheControl marks a block up to which the prompt is cached.
type cacheControl struct {
	Type string `json:"type"`
}

// tool is a tool of ours, which has a schema, or one that the API runs itself, which has a type.
type tool struct {
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
	Type         string          `json:"type,omitempty"`
}

type toolChoice struct {
	Type string `json:"type"`
}

type outputConfig struct {
	Effort effort          `json:"effort,omitempty"`
	Format json.RawMessage `json:"format,omitempty"`
}

type thinkingConfig struct {
	BudgetTokens int    `json:"budget_tokens,omitempty"`
	Display      string `json:"display,omitempty"`
	Type         string `json:"type"`
}
