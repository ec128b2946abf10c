package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// content is the text of a message: a string, null, or an array of parts. An error is kept for check, because only the
// caller knows where the content is in the request.
type content struct {
	text  string
	set   bool
	wrong string
}

// part is a part of a content, in either API.
type part struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *content) UnmarshalJSON(data []byte) error {
	switch {
	case data[0] == 'n':
		return nil
	case data[0] == '"':
		c.set = true

		// Most texts have no escapes, and a second pass over validated JSON costs as much as the first.
		if text := data[1 : len(data)-1]; bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
			c.text = string(text)

			return nil
		}

		return json.Unmarshal(data, &c.text)
	case data[0] != '[':
		c.wrong = "expected a string or an array of content parts"

		return nil
	}

	var parts []part
	if err := json.Unmarshal(data, &parts); err != nil {
		c.wrong = "expected an array of content parts"
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			c.wrong += ", but " + strings.TrimSuffix("part."+wrong.Field, ".") + " is a " + wrong.Value
		}
	}

	c.set = true

	var text strings.Builder

	for i, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text", "summary_text", "reasoning_text":
			text.WriteString(p.Text)
		case "refusal":
			text.WriteString(p.Refusal)
		case "image_url", "input_image", "input_audio", "file", "input_file", "computer_screenshot", "encrypted_content":
			// A script sees the type, as with the other APIs.
			text.WriteString("[" + p.Type + "]")
		default:
			c.wrong = fmt.Sprintf("part %d is of type '%s', which this server does not know", i, p.Type)

			return nil
		}
	}

	c.text = text.String()

	return nil
}

// check returns what is wrong with the content of a parameter.
func (c *content) check(param string) *problem {
	if c.wrong == "" {
		return nil
	}

	return invalid(param, "invalid_value", "Invalid value for '%s': %s.", param, c.wrong)
}

// texts is a string or an array of strings.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		*t = make(texts, 1)

		return json.Unmarshal(data, &(*t)[0])
	}

	return json.Unmarshal(data, (*[]string)(t))
}
