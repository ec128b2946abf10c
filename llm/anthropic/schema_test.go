package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
)

func TestAnswerSchemaDescribesRefusedKeywordsInWords(t *testing.T) {
	t.Parallel()

	req := question()
	req.ResponseSchema = json.RawMessage(`{"$schema":"x","type":"object","additionalProperties":true,"required":["score"],"properties":{
		"score":{"type":"integer","minimum":0,"maximum":100,"description":"How bad."},
		"minimum":{"type":"string","format":"date","minLength":1},
		"list":{"type":"array","minItems":2,"items":{"oneOf":[{"type":"string","format":"regex"},{"type":["object","null"],"patternProperties":{"x":{}}}]}},
		"one":{"type":"array","minItems":1,"items":{"type":"string"}}
	}}`)

	var asked struct {
		OutputConfig struct {
			Format struct{ Schema json.RawMessage }
		} `json:"output_config"`
	}

	require.NoError(t, json.Unmarshal([]byte(body(t, req)), &asked))
	require.JSONEq(t, `{"type":"object","additionalProperties":false,"required":["score"],"properties":{
		"score":{"type":"integer","description":"How bad. (maximum: 100, minimum: 0)"},
		"minimum":{"type":"string","format":"date","description":"(minLength: 1)"},
		"list":{"type":"array","description":"(minItems: 2)","items":{"anyOf":[
			{"type":"string","description":"(format: \"regex\")"},{"type":["object","null"],"additionalProperties":false,"description":"(patternProperties: {\"x\":{}})"}]}},
		"one":{"type":"array","minItems":1,"items":{"type":"string"}}
	}}`, string(asked.OutputConfig.Format.Schema))
}

func TestArgumentWithRefusedNameIsDescribedInWords(t *testing.T) {
	t.Parallel()

	req := question()
	req.Tools = []llm.Tool{{Name: "list_apps", Description: "Lists apps.", Schema: json.RawMessage(
		`{"properties":{"filter[id]":{"type":"string"},"a.b-c_1":{"type":"string"},"` + strings.Repeat("x", 65) + `":{}},"required":["filter[id]","a.b-c_1"]}`)}}

	var asked struct {
		Tools []struct {
			Description string
			InputSchema json.RawMessage `json:"input_schema"`
		}
	}

	require.NoError(t, json.Unmarshal([]byte(body(t, req)), &asked))
	require.JSONEq(t, `{"type":"object","properties":{"a.b-c_1":{"type":"string"}},"required":["a.b-c_1"]}`, string(asked.Tools[0].InputSchema))
	require.Contains(t, asked.Tools[0].Description, "Lists apps.\n\nIt takes further arguments: {\"filter[id]\":{\"type\":\"string\"},\"xxx")

	req.Tools[0].Schema = json.RawMessage(`{"properties":{"a":{"type":"string"}},"additionalProperties":false}`)
	require.NotContains(t, body(t, req), "further arguments")
}
