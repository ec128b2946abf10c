package structured_test

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/schema"
	"tarsy.dev/tarsy/internal/structured"
)

type reply struct {
	Kind  string   `json:"kind"`
	Words []string `json:"words"`
}

func replySchema() structured.Schema[reply] {
	return structured.MustSchema[reply](func(s *jsonschema.Schema) { s.Properties["kind"].Enum = schema.Values([]string{"good", "bad"}) })
}

func TestAnswerThatFitsIsReadWithOrWithoutFence(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		`{"kind":"good","words":["a"]}`,
		" \n{\"words\":[\"a\"],\"kind\":\"good\"}\n",
		"```json\n{\"kind\":\"good\",\"words\":[\"a\"]}\n```",
		"```\n{\"kind\":\"good\",\"words\":[\"a\"]}```",
	} {
		got, err := replySchema().Decode(text)
		require.NoError(t, err, text)
		require.Equal(t, reply{Kind: "good", Words: []string{"a"}}, got)
	}
}

func TestAnswerThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()

	for name, text := range map[string]string{
		"nothing":               "",
		"prose":                 "It is good.",
		"prose around":          `Here it is: {"kind":"good","words":[]}`,
		"two values":            `{"kind":"good","words":[]}{"kind":"bad","words":[]}`,
		"a field left out":      `{"kind":"good"}`,
		"a field more":          `{"kind":"good","words":[],"why":""}`,
		"a value of no choice":  `{"kind":"fine","words":[]}`,
		"a list that is null":   `{"kind":"good","words":null}`,
		"another type":          `{"kind":"good","words":"a"}`,
		"a fence without end":   "```json\n{\"kind\":\"good\",\"words\":[]}",
		"an answer that is cut": `{"kind":"good","wor`,
	} {
		_, err := replySchema().Decode(text)
		require.ErrorIs(t, err, structured.ErrSchema, name)
	}
}

func TestSchemaRequiresEveryFieldAndAllowsNoOther(t *testing.T) {
	t.Parallel()

	raw := replySchema().JSON()
	raw[0] = ' ' // the caller's copy

	var sent struct {
		Required             []string `json:"required"`
		AdditionalProperties any      `json:"additionalProperties"`
	}

	require.NoError(t, json.Unmarshal(replySchema().JSON(), &sent))
	require.ElementsMatch(t, []string{"kind", "words"}, sent.Required)
	require.Equal(t, false, sent.AdditionalProperties)
}
