package wire

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Text is a string that some servers write as another value, such as a number for an id or an object for the arguments of a
// call: it is then that value's JSON. Null is ignored.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(data []byte) error {
	switch {
	case string(data) == "null":
		return nil
	case data[0] == '"':
		return json.Unmarshal(data, (*string)(t))
	default:
		*t = Text(data)

		return nil
	}
}

// Count is an integer that some servers write as a fraction, or in quotes. Anything that is not a number is ignored.
type Count int64

// UnmarshalJSON implements json.Unmarshaler.
func (c *Count) UnmarshalJSON(data []byte) error {
	const exact = 1 << 53

	text := strings.Trim(string(data), `"`)

	if whole, err := strconv.ParseInt(text, 10, 64); err == nil {
		*c = Count(whole)
	} else if number, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(number) < exact {
		*c = Count(number)
	}

	return nil
}

// Unmarshal decodes a JSON object as far as it has the expected form: a field of another type is ignored, as an unknown one is.
// Compatible servers differ in details that do not matter.
func Unmarshal(data []byte, object any) error {
	err := json.Unmarshal(data, object)
	if mismatch, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && mismatch.Field != "" {
		return nil
	}

	return err
}
