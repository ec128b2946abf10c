package anthropic

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"tarsy.dev/tarsy/llm"
)

// request is the body of a call, as far as scripts need it. Other fields are ignored: the API gains new ones all the time.
type request struct {
	Model         string        `json:"model"`
	MaxTokens     *int          `json:"max_tokens"`
	Messages      []message     `json:"messages"`
	System        content       `json:"system"`
	Tools         []tool        `json:"tools"`
	ToolChoice    *toolChoice   `json:"tool_choice"`
	StopSequences []string      `json:"stop_sequences"`
	Stream        bool          `json:"stream"`
	Thinking      *thinking     `json:"thinking"`
	OutputConfig  *outputConfig `json:"output_config"`
	// OutputFormat is where the format was during its beta.
	OutputFormat *outputFormat `json:"output_format"`
	Temperature  *float64      `json:"temperature"`
	TopP         *float64      `json:"top_p"`
	TopK         *float64      `json:"top_k"`
	ServiceTier  string        `json:"service_tier"`
	CacheControl *cacheControl `json:"cache_control"`
	Thread       *thread       `json:"thread"`
	Compaction   *compaction   `json:"compaction"`

	// resumed is the thread that is continued, or nil.
	resumed *keptThread
	// interleaved means that a budget may exceed max_tokens.
	interleaved bool
}

type message struct {
	Role    string  `json:"role"`
	Content content `json:"content"`
}

// content is a text, or a list of blocks.
type content struct {
	given  bool
	blocks []block
}

// block has the fields of all kinds of blocks that the API accepts.
type block struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Source    *imageSource    `json:"source"`
	// Content is the content of a result; its format depends on the tool.
	Content json.RawMessage `json:"content"`
	// Tool is the tool of a tool_addition or tool_removal.
	Tool         *changedTool  `json:"tool"`
	CacheControl *cacheControl `json:"cache_control"`
}

// imageSource is the source of an image or a document.
type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
}

// changedTool is a tool, by name or by definition.
type changedTool struct {
	Name       string `json:"name"`
	Definition *tool  `json:"definition"`
}

// cacheControl marks the end of the content to be cached.
type cacheControl struct {
	Type string `json:"type"`
	TTL  string `json:"ttl"`
}

type tool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`

	CacheControl *cacheControl `json:"cache_control"`
}

type toolChoice struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens *int   `json:"budget_tokens"`
}

type outputConfig struct {
	Effort string        `json:"effort"`
	Format *outputFormat `json:"format"`
}

type outputFormat struct {
	Type   string          `json:"type"`
	Schema json.RawMessage `json:"schema"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	switch {
	case bytes.Equal(data, []byte("null")):
		return nil
	case data[0] == '"':
		c.given, c.blocks = true, []block{{Type: "text"}}

		return json.Unmarshal(data, &c.blocks[0].Text)
	case data[0] == '[':
		c.given = true

		return json.Unmarshal(data, &c.blocks)
	default:
		return errNoContent
	}
}

var errNoContent = errors.New("content: Input should be a valid string or list")

// parse parses a body. Its errors are sent to the caller.
func parse(body []byte) (*request, *llm.Error) {
	var r request

	err := json.Unmarshal(body, &r)
	if err == nil {
		return &r, nil
	}

	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return nil, invalid(fmt.Sprintf("%s: Input should be %s, not %s (byte %d)", or(wrong.Field, "body"), kindName(wrong.Type), wrong.Value, wrong.Offset))
	}

	if errors.Is(err, errNoContent) {
		return nil, invalid("system or messages." + err.Error())
	}

	return nil, invalid("The request body is not valid JSON: " + err.Error())
}

func or(text, instead string) string {
	if text == "" {
		return instead
	}

	return text
}

// kindName returns the API's name for an expected type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a valid string"
	case reflect.Int:
		return "a valid integer"
	case reflect.Float64:
		return "a valid number"
	case reflect.Bool:
		return "a valid boolean"
	case reflect.Slice:
		return "a valid list"
	default:
		return "a valid dictionary"
	}
}
