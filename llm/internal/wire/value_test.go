package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm/internal/wire"
)

func TestTextIsReadFromAnyValue(t *testing.T) {
	t.Parallel()

	for value, want := range map[string]wire.Text{
		`"a\n\ud83d\ude00"`: "a\n😀", `""`: "", `null`: "before", `7`: "7", `true`: "true", `{"a": 1}`: `{"a": 1}`, `["a"]`: `["a"]`,
	} {
		text := wire.Text("before")
		require.NoError(t, json.Unmarshal([]byte(value), &text), value)
		require.Equal(t, want, text, value)
	}
}

func TestCountIsReadFromAnyNumber(t *testing.T) {
	t.Parallel()

	for value, want := range map[string]wire.Count{
		`7`: 7, `-7`: -7, `7.0`: 7, `7.9`: 7, `1e3`: 1000, `"7"`: 7, `9007199254740993`: 9007199254740993,
		`null`: 1, `"x"`: 1, `true`: 1, `{}`: 1, `[7]`: 1, `1e300`: 1, `"NaN"`: 1, `"Inf"`: 1,
	} {
		count := wire.Count(1)
		require.NoError(t, json.Unmarshal([]byte(value), &count), value)
		require.Equal(t, want, count, value)
	}
}

func TestUnmarshalIgnoresMismatchedFields(t *testing.T) {
	t.Parallel()

	type object struct {
		Name  string   `json:"name"`
		Inner struct{} `json:"inner"`
		List  []string `json:"list"`
		Last  string   `json:"last"`
	}

	var read object

	require.NoError(t, wire.Unmarshal([]byte(`{"name":7,"inner":"x","list":{},"unknown":{},"last":"y"}`), &read))
	require.Equal(t, object{Last: "y"}, read)

	for _, data := range []string{`{"last":`, `7`, `"x"`, `[]`, ``} {
		require.Error(t, wire.Unmarshal([]byte(data), &object{}), data)
	}
}
