package scriptfile

import (
	"errors"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// Times is how many calls a reply answers: 0 is one, -1 any number.
type Times int

const (
	forever  = "forever"
	maxTimes = 999_999_999
)

var errTimes = errors.New("expected a whole number of at least 1, or forever")

// UnmarshalText parses a number or the word forever.
func (t *Times) UnmarshalText(text []byte) error {
	if string(text) == forever {
		*t = -1

		return nil
	}

	n, err := strconv.Atoi(string(text))
	if err != nil || n < 1 || n > maxTimes {
		return errTimes
	}

	*t = Times(n)

	return nil
}

// JSONSchema describes what UnmarshalText accepts.
func (*Times) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{
		{Type: "integer", Minimum: new(1.0), Maximum: new(float64(maxTimes))},
		{Type: "string", Pattern: "^([1-9][0-9]{0,8}|" + forever + ")$"},
	}}
}
