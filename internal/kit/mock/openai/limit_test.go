package openai_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm/script"
)

// refused has parameters of a request, and the error that the API returns for them.
type refused struct{ fields, param, code, message string }

const someTool = `"tools":[{"type":"function","function":{"name":"get"}}]`

// many returns an object with n fields.
func many(n int) string {
	fields := make([]string, n)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"k%d":"v"`, i)
	}

	return "{" + strings.Join(fields, ",") + "}"
}

// bothRefuse returns parameters that both chat completions and responses reject.
func bothRefuse() map[string]refused {
	return map[string]refused{
		"temperature low":   {`"temperature":-0.1`, "temperature", "decimal_below_min_value", "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -0.1 instead."},
		"temperature high":  {`"temperature":2.5`, "temperature", "decimal_above_max_value", "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 2.5 instead."},
		"temperature type":  {`"temperature":"hot"`, "temperature", "invalid_type", "expected a number, but got string"},
		"top_p":             {`"top_p":1.1`, "top_p", "decimal_above_max_value", "Expected a value <= 1, but got 1.1"},
		"top_logprobs":      {`"logprobs":true,"top_logprobs":21`, "top_logprobs", "integer_above_max_value", "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 20, but got 21 instead."},
		"service_tier":      {`"service_tier":"gold"`, "service_tier", "invalid_value", "Invalid value: 'gold'. Supported values are: 'auto', 'default', "},
		"metadata count":    {`"metadata":` + many(17), "metadata", "object_above_max_properties", "at most 16 properties, but got an object with 17"},
		"metadata key":      {`"metadata":{"` + strings.Repeat("k", 65) + `":"v"}`, "metadata", "string_above_max_length", "maximum length 64"},
		"metadata value":    {`"metadata":{"k":"` + strings.Repeat("v", 513) + `"}`, "metadata.k", "string_above_max_length", "maximum length 512, but got a string with length 513"},
		"metadata type":     {`"metadata":{"k":1}`, "metadata", "invalid_type", "Invalid value for 'metadata'"},
		"safety_identifier": {`"safety_identifier":"` + strings.Repeat("s", 65) + `"`, "safety_identifier", "string_above_max_length", "maximum length 64"},
		"tool_choice word":  {`"tool_choice":"always"`, "tool_choice", "invalid_value", "Invalid value: 'always'. Supported values are: 'none', 'auto', and 'required'."},
		"tool_choice type":  {`"tool_choice":7`, "tool_choice", "invalid_type", "expected one of a string or object"},
		"tool_choice empty": {`"tool_choice":{}`, "tool_choice.type", "missing_required_parameter", "Missing required parameter: 'tool_choice.type'."},
		"tool_choice alone": {`"tool_choice":"required"`, "tool_choice", "", "must be specified with 'tools' parameter"},
	}
}

func TestChatRejectsInvalidValues(t *testing.T) {
	t.Parallel()

	tests := bothRefuse()
	maps.Copy(tests, map[string]refused{
		"frequency_penalty":     {`"frequency_penalty":-3`, "frequency_penalty", "decimal_below_min_value", "Expected a value >= -2, but got -3"},
		"presence_penalty":      {`"presence_penalty":2.01`, "presence_penalty", "decimal_above_max_value", "Expected a value <= 2, but got 2.01"},
		"n low":                 {`"n":0`, "n", "integer_below_min_value", "Expected a value >= 1, but got 0"},
		"n high":                {`"n":129`, "n", "integer_above_max_value", "Expected a value <= 128, but got 129"},
		"n fraction":            {`"n":1.5`, "n", "invalid_type", "expected an integer, but got a decimal number"},
		"max_tokens":            {`"max_tokens":0`, "max_tokens", "integer_below_min_value", "Expected a value >= 1, but got 0"},
		"max_completion_tokens": {`"max_completion_tokens":-1`, "max_completion_tokens", "integer_below_min_value", "Expected a value >= 1, but got -1"},
		"both limits":           {`"max_tokens":5,"max_completion_tokens":5`, "max_tokens", "invalid_parameter_combination", "at the same time is not supported"},
		"top_logprobs alone":    {`"top_logprobs":2`, "top_logprobs", "", "only allowed when 'logprobs' is enabled"},
		"logit_bias":            {`"logit_bias":{"50256":101}`, "logit_bias.50256", "decimal_above_max_value", "Expected a value <= 100"},
		"stop":                  {`"stop":["a","b","c","d","e"]`, "stop", "array_above_max_length", "maximum length 4, but got an array with length 5"},
		"reasoning_effort":      {`"reasoning_effort":"huge"`, "reasoning_effort", "invalid_value", "Invalid value: 'huge'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', and 'max'."},
		"verbosity":             {`"verbosity":"loud"`, "verbosity", "invalid_value", "'low', 'medium', and 'high'."},
		"modalities":            {`"modalities":["smell"]`, "modalities[0]", "invalid_value", "'text', and 'audio'"},
		"format":                {`"response_format":{"type":"xml"}`, "response_format.type", "invalid_value", "'text', 'json_object', and 'json_schema'"},
		"format without name":   {`"response_format":{"type":"json_schema","json_schema":{"schema":{}}}`, "response_format.json_schema.name", "missing_required_parameter", "Missing required parameter"},
		"json unmentioned":      {`"response_format":{"type":"json_object"}`, "messages", "", "must contain the word 'json' in some form"},
		"stream_options":        {`"stream_options":{"include_usage":true}`, "stream_options", "", "only allowed when 'stream' is enabled"},
		"parallel calls":        {`"parallel_tool_calls":true`, "parallel_tool_calls", "", "only allowed when 'tools' are specified"},
		"unknown choice":        {someTool + `,"tool_choice":{"type":"function","function":{"name":"put"}}`, "tool_choice", "", "Tool choice 'put' not found in 'tools' parameter."},
		"nameless choice":       {someTool + `,"tool_choice":{"type":"function"}`, "tool_choice.name", "missing_required_parameter", "Missing required parameter"},
		"tool type":             {`"tools":[{"type":"web_search"}]`, "tools[0].type", "invalid_value", "Invalid value: 'web_search'. Supported values are: 'function' and 'custom'."},
		"tool name":             {`"tools":[{"type":"function","function":{"name":"a.b"}}]`, "tools[0].function.name", "invalid_value", "matches the pattern '^[a-zA-Z0-9_-]+$'"},
		"long tool name":        {`"tools":[{"type":"function","function":{"name":"` + strings.Repeat("n", 65) + `"}}]`, "tools[0].function.name", "string_above_max_length", "maximum length 64"},
		"nameless tool":         {`"tools":[{"type":"function","function":{}}]`, "tools[0].function.name", "missing_required_parameter", "Missing required parameter"},
		"author":                {`"messages":[{"role":"user","name":"a b","content":"x"}]`, "messages[0].name", "invalid_value", "string does not match pattern"},
	})

	requireRefused(t, "/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"x"}],`, tests)
}

func TestResponsesRejectInvalidValues(t *testing.T) {
	t.Parallel()

	tests := bothRefuse()
	maps.Copy(tests, map[string]refused{
		"max_output_tokens": {`"max_output_tokens":15`, "max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead."},
		"max_tool_calls":    {`"max_tool_calls":0`, "max_tool_calls", "integer_below_min_value", "Expected a value >= 1, but got 0"},
		"effort":            {`"reasoning":{"effort":"huge"}`, "reasoning.effort", "invalid_value", "Invalid value: 'huge'."},
		"summary":           {`"reasoning":{"summary":"long"}`, "reasoning.summary", "invalid_value", "'auto', 'concise', and 'detailed'"},
		"verbosity":         {`"text":{"verbosity":"loud"}`, "text.verbosity", "invalid_value", "Invalid value: 'loud'."},
		"format":            {`"text":{"format":{"type":"xml"}}`, "text.format.type", "invalid_value", "Invalid value: 'xml'."},
		"format name":       {`"text":{"format":{"type":"json_schema","schema":{}}}`, "text.format.name", "missing_required_parameter", "Missing required parameter: 'text.format.name'."},
		"json unmentioned":  {`"text":{"format":{"type":"json_object"}}`, "input", "", "must contain the word 'json' in some form"},
		"truncation":        {`"truncation":"middle"`, "truncation", "invalid_value", "'auto', and 'disabled'"},
		"include":           {`"include":["everything"]`, "include[0]", "invalid_value", "Invalid value: 'everything'."},
		"tool name":         {`"tools":[{"type":"function","name":"a b"}]`, "tools[0].name", "invalid_value", "string does not match pattern"},
		"long tool name":    {`"tools":[{"type":"custom","name":"` + strings.Repeat("n", 129) + `"}]`, "tools[0].name", "string_above_max_length", "maximum length 128"},
		"nameless tool":     {`"tools":[{"type":"function"}]`, "tools[0].name", "missing_required_parameter", "Missing required parameter"},
		"nameless space":    {`"tools":[{"type":"namespace","tools":[]}]`, "tools[0].name", "missing_required_parameter", "Missing required parameter"},
		"unknown choice":    {`"tools":[{"type":"function","name":"get"}],"tool_choice":{"type":"function","name":"put"}`, "tool_choice", "", "Tool choice 'put' not found"},
	})

	requireRefused(t, "/v1/responses", `{"model":"m","input":"x",`, tests)
}

// requireRefused checks that each of the parameters makes a request fail, and that the script is not called.
func requireRefused(t *testing.T, path, request string, tests map[string]refused) {
	t.Helper()

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t)
			status, _, body := s.post(t, path, request+test.fields+"}")
			require.Equal(t, http.StatusBadRequest, status, "%s", body)
			requireError(t, body, "invalid_request_error", test.param, test.message)
			require.Zero(t, s.script.CallCount())

			var answer struct{ Error struct{ Code string } }

			require.NoError(t, json.Unmarshal(body, &answer))
			require.Equal(t, test.code, answer.Error.Code)
		})
	}
}

// Values at a limit are accepted, as are the words in the published schema.
func TestBoundaryValuesAreAccepted(t *testing.T) {
	t.Parallel()

	for path, requests := range map[string][]string{
		"/v1/chat/completions": {
			`"temperature":2,"top_p":0,"frequency_penalty":-2,"presence_penalty":2,"n":1,"max_completion_tokens":1,"stop":["a","b","c","d"]`,
			`"logprobs":true,"top_logprobs":20,"metadata":` + many(16) + `,"logit_bias":{"1":-100},"service_tier":"flex","verbosity":"high"`,
			`"temperature":null,"top_p":null,"n":null,"max_tokens":null,"stop":null,"metadata":null,"tool_choice":null,"stream_options":null,"logit_bias":null`,
			`"reasoning_effort":"none","tool_choice":"auto","modalities":["text"],"response_format":{"type":"text"}`,
			someTool + `,"parallel_tool_calls":false,"tool_choice":{"type":"function","function":{"name":"get"}}`,
			someTool + `,"tool_choice":{"type":"allowed_tools","allowed_tools":{"mode":"auto","tools":[]}}`,
			`"response_format":{"type":"json_object"},"messages":[{"role":"user","name":"ann","content":"Answer in JSON."}]`,
		},
		"/v1/responses": {
			`"temperature":0,"top_p":1,"top_logprobs":0,"max_output_tokens":16,"max_tool_calls":1,"truncation":"auto","service_tier":"ultrafast"`,
			`"temperature":null,"max_output_tokens":null,"reasoning":null,"text":null,"tools":null,"include":null,"service_tier":null,"truncation":null`,
			`"tools":[{"type":"web_search"}],"tool_choice":{"type":"web_search"},"parallel_tool_calls":true`,
			`"tools":[{"type":"mcp","server_label":"a"}],"tool_choice":"required"`,
			`"tools":[{"type":"custom","name":"a"}],"tool_choice":{"type":"custom","name":"a"},"reasoning":{"effort":"max","summary":"detailed"}`,
			`"text":{"format":{"type":"json_object"},"verbosity":"low"},"instructions":"Use JSON."`,
		},
	} {
		for _, fields := range requests {
			s := serve(t, script.Reply{Text: "ok"})
			status, _, body := s.post(t, path, `{"model":"m","messages":[{"role":"user","content":"x"}],"input":"x",`+fields+"}")
			require.Equal(t, http.StatusOK, status, "%s: %s", fields, body)
		}
	}
}
