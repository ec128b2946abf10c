package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
)

// readRequest decodes a body into the struct that documents it. Unlike encoding/json it compares names exactly, rejects unknown and
// duplicate fields, and reports the path of the invalid field. A null field counts as absent. Text is cleaned. It checks the kind of
// values, not their meaning.
func readRequest[T any](body []byte) (T, error) {
	var request T

	if len(bytes.TrimSpace(body)) == 0 {
		return request, tarsy.Errorf(tarsy.CodeInvalidJSON, "the body is empty; send a JSON object with the fields %s",
			listed(fieldNames(reflect.TypeFor[T]())))
	}

	var raw json.RawMessage

	err := json.Unmarshal(body, &raw)
	if err != nil {
		return request, invalidJSON(body, err)
	}

	err = value{raw: raw}.into(reflect.ValueOf(&request).Elem())

	return request, err
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

// value is valid JSON and its path in the body; the body itself has no path.
type value struct {
	path string
	raw  json.RawMessage
}

// valueReader is a type that decodes itself, because it accepts more than one kind of JSON.
type valueReader interface{ readValue(v value) error }

// into decodes the value into the target, by the target's kind.
func (v value) into(target reflect.Value) error {
	if reader, ok := reflect.TypeAssert[valueReader](target.Addr()); ok {
		return reader.readValue(v)
	}

	switch target.Kind() {
	case reflect.Pointer:
		target.Set(reflect.New(target.Type().Elem()))

		return v.into(target.Elem())
	case reflect.Struct:
		return v.intoStruct(target)
	case reflect.Slice:
		return v.intoList(target)
	case reflect.String:
		text, err := v.text()
		target.SetString(text)

		return err
	case reflect.Bool:
		if v.kind() != kindBool {
			return v.wrong(kindBool)
		}

		target.SetBool(v.raw[0] == 't')

		return nil
	case reflect.Int64:
		var number int64

		// A number that is too large or has decimals is reported like a value that is not a number.
		if v.kind() == kindNull || json.Unmarshal(v.raw, &number) != nil {
			return v.wrong(kindInteger)
		}

		target.SetInt(number)

		return nil
	default:
		panic(fmt.Sprintf("api: a request has a field of type %s, which nothing reads", target.Type()))
	}
}

func (v value) intoStruct(target reflect.Value) error {
	fields, err := v.fields(fieldNames(target.Type()))
	if err != nil {
		return err
	}

	for i, name := range fieldNames(target.Type()) {
		field, ok := fields[name]
		if !ok || field.kind() == kindNull {
			continue
		}

		err = field.into(target.Field(i))
		if err != nil {
			return err
		}
	}

	return nil
}

// fieldNames returns the JSON names of a struct's fields, in order.
func fieldNames(t reflect.Type) []string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(t.Field(i).Tag.Get("json"), ",")
	}

	return names
}

// fields splits an object into its fields.
func (v value) fields(known []string) (map[string]value, error) {
	if v.kind() != kindObject {
		return nil, v.wrong(kindObject)
	}

	fields := map[string]value{}
	decoder := json.NewDecoder(bytes.NewReader(v.raw))

	_, err := decoder.Token()
	for err == nil && decoder.More() {
		err = v.field(decoder, known, fields)
	}

	return fields, err
}

// field decodes the next field of an object.
func (v value) field(decoder *json.Decoder, known []string, fields map[string]value) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}

	name := fmt.Sprint(token)
	path := joined(v.path, name)

	if !slices.Contains(known, name) {
		return tarsy.FieldErrorf(tarsy.CodeUnknownField, shown(path), "there is no field %q; %s", shown(path), nearest.Hint(name, known, "fields"))
	}

	if _, ok := fields[name]; ok {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, path, "%s is given twice", path)
	}

	var raw json.RawMessage

	err = decoder.Decode(&raw)
	if err != nil {
		return err
	}

	fields[name] = value{path: path, raw: raw}

	return nil
}

// intoList decodes a list. Its texts must not be blank: an empty name selects nothing.
func (v value) intoList(target reflect.Value) error {
	var items []json.RawMessage

	err := json.Unmarshal(v.raw, &items)
	if err != nil {
		return v.wrong(kindList)
	}

	for i, raw := range items {
		item, decoded := value{path: fmt.Sprintf("%s[%d]", v.path, i), raw: raw}, reflect.New(target.Type().Elem()).Elem()

		err = item.into(decoded)
		if err != nil {
			return err
		}

		if decoded.Kind() == reflect.String && strings.TrimSpace(decoded.String()) == "" {
			return tarsy.FieldErrorf(tarsy.CodeInvalidField, item.path, "%s must not be empty", item.path)
		}

		target.Set(reflect.Append(target, decoded))
	}

	return nil
}

// text returns the value as cleaned text; null is empty.
func (v value) text() (string, error) {
	var text string

	err := json.Unmarshal(v.raw, &text)
	if err != nil {
		return "", v.wrong(kindText)
	}

	return plaintext.Clean(text), nil
}

// joined returns the path of a field of an object.
func joined(path, name string) string {
	if path == "" {
		return name
	}

	return path + "." + name
}

func missing(path, expected string) error {
	return tarsy.FieldErrorf(tarsy.CodeMissingField, path, "%s is missing; it must be %s", path, expected)
}

// wrong returns the error for a value of an unexpected kind.
func (v value) wrong(expected string) error {
	what := v.path
	if what == "" {
		what = "the body"
	}

	return tarsy.FieldErrorf(tarsy.CodeInvalidField, v.path, "%s must be %s, not %s", what, expected, v.kind())
}

// The kinds of JSON values, as problems name them.
const (
	kindObject  = "an object"
	kindList    = "a list"
	kindText    = "text"
	kindBool    = "true or false"
	kindNumber  = "a number"
	kindInteger = "a whole number"
	kindNull    = "null"
)

// kind names the kind of the value. A raw value has no space around it.
func (v value) kind() string {
	switch v.raw[0] {
	case '{':
		return kindObject
	case '[':
		return kindList
	case '"':
		return kindText
	case 't', 'f':
		return kindBool
	case 'n':
		return kindNull
	default:
		return kindNumber
	}
}
