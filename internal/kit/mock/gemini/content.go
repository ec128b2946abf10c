package gemini

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// content is one turn of the conversation.
type content struct {
	Role  string `json:"role"`
	Parts []part `json:"parts"`
}

// part is a piece of a turn; exactly one of its kinds is set.
type part struct {
	Text         *string       `json:"text"`
	Thought      bool          `json:"thought"`
	Signature    string        `json:"thoughtSignature"`
	Signature2   string        `json:"thought_signature"`
	Call         *functionCall `json:"functionCall"`
	Call2        *functionCall `json:"function_call"`
	Result       *result       `json:"functionResponse"`
	Result2      *result       `json:"function_response"`
	InlineData   *blob         `json:"inlineData"`
	InlineData2  *blob         `json:"inline_data"`
	FileData     *blob         `json:"fileData"`
	FileData2    *blob         `json:"file_data"`
	Code         *struct{}     `json:"executableCode"`
	Code2        *struct{}     `json:"executable_code"`
	CodeResult   *struct{}     `json:"codeExecutionResult"`
	CodeResult2  *struct{}     `json:"code_execution_result"`
	ToolCall     *struct{}     `json:"toolCall"`
	ToolResponse *struct{}     `json:"toolResponse"`
}

type functionCall struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type result struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

type blob struct {
	MIMEType  string `json:"mimeType"`
	MIMEType2 string `json:"mime_type"`
}

// signedBy is the author of signatures that callers sent.
const signedBy = "wire"

// conversation combines turns into messages.
type conversation struct {
	messages []llm.Message
	// calls counts the calls of the whole conversation; open has those of the last turn without a result.
	calls int
	open  []llm.ToolCall
	// answered means that one of the last turn's calls has its result.
	answered bool
}

func (r *request) messages() ([]llm.Message, error) {
	if len(r.Contents) == 0 {
		return nil, errors.New("* GenerateContentRequest.contents: contents is not specified")
	}

	c := conversation{messages: make([]llm.Message, 0, len(r.Contents)+1)}

	if system := either(r.SystemInstruction, r.SystemInstruction2); system != nil {
		c.messages = append(c.messages, llm.Message{Role: llm.RoleSystem, Content: system.text()})
	}

	for i := range r.Contents {
		if err := c.add(i, &r.Contents[i]); err != nil {
			return nil, err
		}
	}

	if c.answered && len(c.open) > 0 {
		return nil, errCount
	}

	return c.messages, nil
}

var errCount = errors.New("Please ensure that function response turn comes immediately after a function call turn. And the number of function response parts should be equal to number of function call parts of the function call turn.") //nolint:staticcheck // as the API says it

func (c *conversation) add(i int, turn *content) error {
	if len(turn.Parts) == 0 {
		return fmt.Errorf("* GenerateContentRequest.contents[%d].parts: contents.parts must not be empty.", i) //nolint:staticcheck // as the API says it
	}

	for j := range turn.Parts {
		if turn.Parts[j].empty() {
			return fmt.Errorf("* GenerateContentRequest.contents[%d].parts[%d].data: required oneof field 'data' must have one initialized field", i, j)
		}
	}

	switch turn.Role {
	case "model":
		return c.model(i, turn)
	case "", "user", "function", "tool":
		// Some clients send the results of functions with the last two.
		return c.user(i, turn)
	default:
		return fmt.Errorf("contents[%d].role: Please use a valid role: user, model.", i) //nolint:staticcheck // as the API says it
	}
}

// model reads an answer of the model. Consecutive ones are one message: SDKs send the events of a stream back one by one.
func (c *conversation) model(i int, turn *content) error {
	last := len(c.messages) - 1
	if last < 0 || c.messages[last].Role != llm.RoleAssistant {
		if len(c.open) > 0 {
			return errCount
		}

		c.messages = append(c.messages, llm.Message{Role: llm.RoleAssistant})
		last++
	}

	message := &c.messages[last]

	var text strings.Builder

	text.WriteString(message.Content)

	for j := range turn.Parts {
		p := &turn.Parts[j]

		if signature := either(p.Signature, p.Signature2); signature != "" {
			message.Signature = &llm.Signature{By: signedBy, Data: readSignature(signature)}
		}

		if p.Text != nil && !p.Thought {
			text.WriteString(*p.Text)
		}

		asked := either(p.Call, p.Call2)
		if asked == nil {
			continue
		}

		call, err := c.call(asked)
		if err != nil {
			return fmt.Errorf("contents[%d].parts[%d].function_call: %w", i, j, err)
		}

		message.ToolCalls = append(message.ToolCalls, call)
	}

	message.Content = text.String()
	c.open, c.answered = slices.Clone(message.ToolCalls), false

	return nil
}

func (c *conversation) call(asked *functionCall) (llm.ToolCall, error) {
	if asked.Name == "" {
		return llm.ToolCall{}, errors.New("name must not be empty")
	}

	c.calls++

	call := llm.ToolCall{ID: asked.ID, Name: asked.Name, Arguments: "{}"}
	if call.ID == "" {
		call.ID = "call_" + strconv.Itoa(c.calls)
	}

	if args := present(asked.Args); args != nil {
		if args[0] != '{' {
			return llm.ToolCall{}, errors.New("args must be an object")
		}

		call.Arguments = compact(args)
	}

	return call, nil
}

// user reads a turn of the caller: text, or the results of the calls in the previous turn.
func (c *conversation) user(i int, turn *content) error {
	results := 0

	for j := range turn.Parts {
		answer := either(turn.Parts[j].Result, turn.Parts[j].Result2)
		if answer == nil {
			continue
		}

		results++

		message, err := c.result(answer)
		if err != nil {
			return fmt.Errorf("contents[%d].parts[%d].function_response: %w", i, j, err)
		}

		c.messages = append(c.messages, message)
	}

	if results == len(turn.Parts) {
		return nil
	}

	if len(c.open) > 0 {
		return errCount
	}

	c.messages = append(c.messages, llm.Message{Role: llm.RoleUser, Content: turn.text()})

	return nil
}

// result finds the call that a result belongs to, by name and, if there is one, by ID.
func (c *conversation) result(answer *result) (llm.Message, error) {
	at := slices.IndexFunc(c.open, func(call llm.ToolCall) bool {
		return call.Name == answer.Name && (answer.ID == "" || call.ID == answer.ID)
	})
	if at < 0 {
		return llm.Message{}, fmt.Errorf("no function call with name %q and id %q waits for a response", answer.Name, answer.ID)
	}

	id := c.open[at].ID
	c.open = slices.Delete(c.open, at, at+1)
	c.answered = true

	content, err := answer.content()

	return llm.Message{Role: llm.RoleTool, Content: content, ToolCallID: id, ToolName: answer.Name}, err
}

// content returns the tool's output: the documented field of the response, or all of it.
func (a *result) content() (string, error) {
	raw := present(a.Response)
	if raw == nil {
		return "", nil
	}

	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return "", errors.New("response must be an object")
	}

	for _, name := range []string{"output", "error", "result"} {
		var text string
		if len(fields) == 1 && json.Unmarshal(fields[name], &text) == nil {
			return text, nil
		}
	}

	return compact(raw), nil
}

// text returns the text of a turn; data is represented by its type, since scripts only know text.
func (t *content) text() string {
	var pieces []string

	for i := range t.Parts {
		p := &t.Parts[i]

		switch data := either(either(p.InlineData, p.InlineData2), either(p.FileData, p.FileData2)); {
		case p.Text != nil:
			pieces = append(pieces, *p.Text)
		case data != nil:
			pieces = append(pieces, "["+either(data.MIMEType, data.MIMEType2)+"]")
		}
	}

	return strings.Join(pieces, "\n")
}

func (p *part) empty() bool {
	return p.Text == nil && either(p.Call, p.Call2) == nil && either(p.Result, p.Result2) == nil &&
		either(p.InlineData, p.InlineData2) == nil && either(p.FileData, p.FileData2) == nil &&
		either(p.Code, p.Code2) == nil && either(p.CodeResult, p.CodeResult2) == nil &&
		p.ToolCall == nil && p.ToolResponse == nil
}

func compact(raw json.RawMessage) string {
	var buf bytes.Buffer
	if json.Compact(&buf, raw) != nil {
		return string(raw)
	}

	return buf.String()
}
