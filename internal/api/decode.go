package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
)

// object is a JSON object of a request. Unlike encoding/json it knows which fields there may be, compares names
// exactly, refuses a field that comes twice, and says where in the request something is wrong. A field that is null is
// a field that is not there.
type object struct {
	path   string
	fields map[string]json.RawMessage
}

// parseBody reads a body that must be one JSON object.
func parseBody(body []byte, known ...string) (object, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return object{}, tarsy.Errorf(tarsy.CodeInvalidJSON, "the body is empty; send a JSON object with the fields %s", listed(known))
	}

	var raw json.RawMessage

	err := json.Unmarshal(body, &raw)
	if err != nil {
		return object{}, invalidJSON(body, err)
	}

	return parseObject("", raw, known...)
}

func invalidJSON(body []byte, err error) error {
	syntax, ok := errors.AsType[*json.SyntaxError](err)
	if !ok {
		return tarsy.Errorf(tarsy.CodeInvalidJSON, "the body is not JSON")
	}

	before := body[:min(max(int(syntax.Offset)-1, 0), len(body))]
	line := 1 + bytes.Count(before, []byte("\n"))
	column := 1 + len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:])))

	return tarsy.Errorf(tarsy.CodeInvalidJSON, "line %d, column %d: %s", line, column, shown(syntax.Error()))
}

// parseObject reads raw, which is valid JSON, as an object; path says where in the body it was.
func parseObject(path string, raw json.RawMessage, known ...string) (object, error) {
	o := object{path: path, fields: map[string]json.RawMessage{}}

	if kindOf(raw) != "an object" {
		return o, o.wrong("", "an object", raw)
	}

	decoder := json.NewDecoder(bytes.NewReader(raw))

	_, err := decoder.Token()
	for err == nil && decoder.More() {
		err = o.read(decoder, known)
	}

	return o, err
}

// read takes one field of the object.
func (o object) read(decoder *json.Decoder, known []string) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}

	name := fmt.Sprint(token)
	if !slices.Contains(known, name) {
		return tarsy.FieldErrorf(tarsy.CodeUnknownField, shown(o.at(name)), "there is no field %q; %s", shown(o.at(name)), nearest.Hint(name, known, "fields"))
	}

	if _, ok := o.fields[name]; ok {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, o.at(name), "%s is given twice", o.at(name))
	}

	var value json.RawMessage

	err = decoder.Decode(&value)
	if err != nil {
		return err
	}

	o.fields[name] = value

	return nil
}

// at is the path of a field.
func (o object) at(name string) string {
	if o.path == "" || name == "" {
		return o.path + name
	}

	return o.path + "." + name
}

// get returns a field that is there.
func (o object) get(name string) (json.RawMessage, bool) {
	raw, ok := o.fields[name]

	return raw, ok && kindOf(raw) != "null"
}

func (o object) missing(name, expected string) error {
	return tarsy.FieldErrorf(tarsy.CodeMissingField, o.at(name), "%s is missing; it must be %s", o.at(name), expected)
}

// wrong is the error of a field with a value of another kind than expected.
func (o object) wrong(name, expected string, raw json.RawMessage) error {
	what := o.at(name)
	if what == "" {
		what = "the body"
	}

	return tarsy.FieldErrorf(tarsy.CodeInvalidField, o.at(name), "%s must be %s, not %s", what, expected, kindOf(raw))
}

// text reads a field of text, cleaned.
func (o object) text(name string) (string, error) {
	raw, ok := o.get(name)
	if !ok {
		return "", nil
	}

	var value string

	err := json.Unmarshal(raw, &value)
	if err != nil {
		return "", o.wrong(name, "text", raw)
	}

	return tarsy.CleanText(value), nil
}

// flag reads a field that is true or false; nil means that it is not there.
func (o object) flag(name string) (*bool, error) {
	raw, ok := o.get(name)
	if !ok {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	var value bool

	err := json.Unmarshal(raw, &value)
	if err != nil {
		return nil, o.wrong(name, "true or false", raw)
	}

	return &value, nil
}

// list reads a field that is a list, and returns its items under their paths.
func (o object) list(name string) ([]item, error) {
	raw, ok := o.get(name)
	if !ok {
		return nil, nil
	}

	var values []json.RawMessage

	err := json.Unmarshal(raw, &values)
	if err != nil {
		return nil, o.wrong(name, "a list", raw)
	}

	items := make([]item, len(values))
	for i, value := range values {
		items[i] = item{path: fmt.Sprintf("%s[%d]", o.at(name), i), raw: value}
	}

	return items, nil
}

// item is one item of a list.
type item struct {
	path string
	raw  json.RawMessage
}

// text reads an item that is text and not blank.
func (i item) text() (string, error) {
	value, err := object{fields: map[string]json.RawMessage{i.path: i.raw}}.text(i.path)
	if err == nil && strings.TrimSpace(value) == "" {
		err = tarsy.FieldErrorf(tarsy.CodeInvalidField, i.path, "%s must not be empty", i.path)
	}

	return value, err
}

// kindOf names what a valid JSON value is.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return "nothing"
	}

	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	default:
		return "a number"
	}
}
