package alert

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxDepth limits the nesting of a body. Real senders use fewer than ten levels.
const maxDepth = 100

// decode decodes a sender's body. If a key occurs twice, the last value wins, as everywhere in this code.
func decode(body []byte, into any) error {
	if depth(body) > maxDepth {
		return tarsy.Errorf(tarsy.CodeInvalidJSON, "The body is nested deeper than %d levels.", maxDepth)
	}

	err := json.Unmarshal(body, into)
	if err == nil {
		return nil
	}

	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		where := "The body"
		if wrong.Field != "" {
			where = "The field " + wrong.Field
		}

		return tarsy.FieldErrorf(tarsy.CodeInvalidField, wrong.Field, "%s must not be of type %s.", where, wrong.Value)
	}

	return &tarsy.Error{Code: tarsy.CodeInvalidJSON, Message: "The body is not valid JSON.", Err: err}
}

// depth returns the maximum nesting of brackets, also in invalid JSON.
func depth(body []byte) int {
	deepest := 0

	walk(body, func(_ byte, depth int) { deepest = max(deepest, depth) })

	return deepest
}

// walk calls visit for each structural character of JSON, with the depth after it.
func walk(raw []byte, visit func(char byte, depth int)) {
	depth, inText, escaped := 0, false, false

	for _, b := range raw {
		switch {
		case inText:
			inText = escaped || b != '"'
			escaped = !escaped && b == '\\'
		case b == '"':
			inText = true
		case b == '{' || b == '[':
			depth++
			visit(b, depth)
		case b == '}' || b == ']':
			depth--
			visit(b, depth)
		case b == ',' || b == ':':
			visit(b, depth)
		}
	}
}

// indent is the indentation of JSON shown to agents and people.
const indent = "  "

// Indent indents valid JSON unless the result would exceed the size limit of an alert: indentation is quadratic in the nesting
// depth.
func Indent(raw []byte) string {
	size := len(raw)

	walk(raw, func(char byte, depth int) {
		size++
		if char != ':' {
			size += depth * len(indent)
		}
	})

	var out bytes.Buffer
	if size > tarsy.MaxAlertBytes || json.Indent(&out, raw, "", indent) != nil {
		return string(raw)
	}

	return out.String()
}

// readable encodes a value as JSON for agents and people, indented unless that makes it too large, and truncated if it is too
// large even so.
func readable(value any) string {
	var compact bytes.Buffer

	encoder := json.NewEncoder(&compact)
	encoder.SetEscapeHTML(false)

	if err := encoder.Encode(value); err != nil {
		return plaintext.Cut(plaintext.Clean(fmt.Sprint(value)), tarsy.MaxAlertBytes)
	}

	text := plaintext.Clean(Indent(plaintext.EscapeInvisible(bytes.TrimSpace(compact.Bytes()))))

	return plaintext.CutMiddle(text, tarsy.MaxAlertBytes, "\n… the middle of this alert was left out: it is too large …\n")
}

// word is a string in a sender's body. Numbers and booleans are read as text, null and everything else as empty: a sender that
// changes the type of one field must not lose its alerts.
type word string

// UnmarshalJSON implements json.Unmarshaler.
func (w *word) UnmarshalJSON(raw []byte) error {
	*w = ""

	switch {
	case len(raw) == 0 || raw[0] == '{' || raw[0] == '[' || string(raw) == "null":
		return nil
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return err
		}

		*w = word(plaintext.Clean(text))
	default:
		*w = word(raw)
	}

	return nil
}

// words is an object of strings, such as labels. Nested values are kept as JSON.
type words map[string]string

// UnmarshalJSON implements json.Unmarshaler.
func (w *words) UnmarshalJSON(raw []byte) error {
	*w = nil
	if len(raw) == 0 || raw[0] != '{' {
		return nil
	}

	// Almost always all values are strings, which is much faster to decode.
	var plain map[string]string
	if json.Unmarshal(raw, &plain) == nil {
		*w = make(words, len(plain))

		for name, value := range plain {
			if value = plaintext.Clean(value); value != "" {
				(*w)[plaintext.Clean(name)] = value
			}
		}

		return nil
	}

	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}

	*w = make(words, len(fields))

	for name, raw := range fields {
		var value word
		if err := json.Unmarshal(raw, &value); err != nil {
			return err
		}

		if raw[0] == '{' || raw[0] == '[' {
			value = word(plaintext.Clean(string(raw)))
		}

		if value != "" {
			(*w)[plaintext.Clean(name)] = string(value)
		}
	}

	return nil
}

// parseTime parses RFC 3339, or Unix time in seconds or milliseconds. It returns nil for times that mean "none", such as
// Alertmanager's year 1.
func parseTime(s string) *time.Time {
	s = strings.TrimSpace(s)

	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		t, err = time.Parse("2006-01-02T15:04:05.999999999Z0700", s) // from Java programs, such as CloudWatch
	}

	if err != nil {
		number, err := strconv.ParseFloat(s, 64)
		if err != nil || !(number > 0 && number < 1e15) {
			return nil
		}

		const milliseconds = 1e11 // as seconds, the year 5138
		if number < milliseconds {
			number *= 1000
		}

		t = time.UnixMilli(int64(number))
	}

	if t.Year() <= 1970 || t.Year() > 9999 {
		return nil
	}

	t = calendar.Time(t)

	return &t
}
