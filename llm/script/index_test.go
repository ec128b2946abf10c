package script_test

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// drawMatch draws a match with few values, so that many routes take one call.
func drawMatch(t *rapid.T) script.Match {
	value := func(name string) string { return rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, name) }
	match := script.Match{
		Agent: value("agent"), Purpose: value("purpose"), Model: script.Text{Equals: value("model")},
		User:   script.Text{Contains: value("user")},
		Header: map[string]script.Text{},
	}

	for _, name := range []string{"x-one", "x-two"} {
		if text := value(name); text != "" {
			match.Header[name] = script.Text{Equals: text}
		}
	}

	return match
}

func TestFirstMatchingRouteAnswersInAnyOrder(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		value := func(name string) string { return rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, name) }
		in := script.Incoming{
			Request: &llm.Request{
				Agent: value("asked agent"), Purpose: value("asked purpose"), Model: value("asked model"),
				Messages: []llm.Message{{Role: llm.RoleUser, Content: value("asked user")}},
			},
			Header: http.Header{"X-One": {value("asked one")}, "X-Two": {value("asked two")}},
		}
		all, want := script.New(script.Options{}), "none"

		for i := range rapid.IntRange(1, 30).Draw(t, "routes") {
			match := drawMatch(t)
			reply := script.Reply{Text: strconv.Itoa(i)}
			require.NoError(t, all.On(match, reply))

			alone := script.New(script.Options{})
			require.NoError(t, alone.On(match, reply))

			if _, err := llm.Collect(alone.Answer(t.Context(), in), nil); err == nil && want == "none" {
				want = strconv.Itoa(i)
			}
		}

		all.Add(script.Reply{Text: "none"})

		got, err := llm.Collect(all.Answer(t.Context(), in), nil)
		require.NoError(t, err)
		require.Equal(t, want, got.Text)
	})
}

func TestSignatureIsKnownBeforeFirstChunk(t *testing.T) {
	t.Parallel()

	given := func(data string) []llm.Chunk {
		return []llm.Chunk{llm.TextChunk{Text: "x"}, llm.EndChunk{Signature: &llm.Signature{By: "any", Data: []byte(data)}}}
	}

	for want, reply := range map[string]script.Reply{
		"":        {Text: "x"},
		"proof":   {Text: "x", Signature: "proof"},
		"signed":  {Chunks: given(`"signed"`)},
		`{"a":1}`: {Chunks: given(`{"a":1}`)},
	} {
		s := script.New(script.Options{})
		s.Add(reply)

		var seen []script.Matched

		for _, err := range s.Answer(t.Context(), script.Incoming{
			Request: &llm.Request{}, Matched: func(m script.Matched) { seen = append(seen, m) },
		}) {
			require.NoError(t, err)
			require.Equal(t, []script.Matched{{Route: "sequence", Signature: want}}, seen)
		}
	}
}
