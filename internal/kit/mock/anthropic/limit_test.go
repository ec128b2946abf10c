package anthropic_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm/script"
)

const (
	someTool = `"tools":[{"name":"get","input_schema":{"type":"object"}}]`
	// marked is a block with a cache mark.
	marked = `{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}`
)

func TestInvalidValuesAreRejected(t *testing.T) {
	t.Parallel()

	asks := func(content string) string { return `"messages":[{"role":"user","content":[` + content + `]}]` }

	for name, test := range map[string]struct{ fields, message string }{
		"max_tokens":         {`"max_tokens":-1`, "max_tokens: Input should be greater than or equal to 0"},
		"max_tokens type":    {`"max_tokens":1.5`, "max_tokens: Input should be a valid integer, not number 1.5"},
		"temperature low":    {`"temperature":-0.1`, "temperature: Input should be greater than or equal to 0"},
		"temperature high":   {`"temperature":1.1`, "temperature: Input should be less than or equal to 1"},
		"temperature type":   {`"temperature":"hot"`, "temperature: Input should be a valid number, not string"},
		"top_p":              {`"top_p":2`, "top_p: Input should be less than or equal to 1"},
		"top_k":              {`"top_k":-2`, "top_k: Input should be greater than or equal to 0"},
		"service_tier":       {`"service_tier":"gold"`, "service_tier: Input should be 'auto' or 'standard_only'"},
		"effort":             {`"output_config":{"effort":"huge"}`, "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'"},
		"format":             {`"output_config":{"format":{"type":"xml"}}`, "output_config.format.type: Input should be 'json_schema'"},
		"format schema":      {`"output_format":{"type":"json_schema"}`, "output_config.format.schema: Field required"},
		"thinking":           {`"thinking":{"type":"deep"}`, "thinking: Input tag 'deep' found using 'type' does not match any of the expected tags"},
		"budget":             {`"thinking":{"type":"enabled","budget_tokens":1023}`, "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"},
		"budget missing":     {`"thinking":{"type":"enabled"}`, "thinking.enabled.budget_tokens: Field required"},
		"budget and limit":   {`"thinking":{"type":"enabled","budget_tokens":4096}`, "`max_tokens` must be greater than `thinking.budget_tokens`."},
		"thinking, heat":     {`"thinking":{"type":"adaptive"},"temperature":0.5`, "`temperature` may only be set to 1 when thinking is enabled"},
		"thinking, top_p":    {`"thinking":{"type":"adaptive"},"top_p":0.9`, "`top_p` must be greater than or equal to 0.95 or unset"},
		"thinking, top_k":    {`"thinking":{"type":"enabled","budget_tokens":1024},"top_k":5`, "`top_k` must be unset when thinking is enabled"},
		"thinking, forced":   {someTool + `,"thinking":{"type":"enabled","budget_tokens":1024},"tool_choice":{"type":"any"}`, "Thinking may not be enabled when tool_choice forces tool use."},
		"choice":             {someTool + `,"tool_choice":{"type":"required"}`, "tool_choice: Input tag 'required' found using 'type' does not match any of the expected tags: 'any', 'auto', 'none', 'tool'"},
		"choice shape":       {someTool + `,"tool_choice":"auto"`, "tool_choice: Input should be a valid dictionary"},
		"choice alone":       {`"tool_choice":{"type":"any"}`, "tool_choice may only be specified while providing tools"},
		"choice nameless":    {someTool + `,"tool_choice":{"type":"tool"}`, "tool_choice.tool.name: Field required"},
		"choice unknown":     {someTool + `,"tool_choice":{"type":"tool","name":"put"}`, "Tool 'put' not found in provided tools"},
		"stop":               {`"stop_sequences":["\n"]`, "stop_sequences: each stop sequence must contain non-whitespace"},
		"breakpoints":        {asks(strings.Repeat(marked+",", 4) + marked), "A maximum of 4 blocks with cache_control may be provided. Found 5."},
		"breakpoints, all":   {`"cache_control":{"type":"ephemeral"},"system":[` + marked + `,` + marked + `],` + asks(marked+","+marked), "Found 5."},
		"cache type":         {`"cache_control":{"type":"forever"}`, "cache_control: Input tag 'forever'"},
		"cache ttl":          {`"cache_control":{"type":"ephemeral","ttl":"1d"}`, "cache_control.ephemeral.ttl: Input should be '5m' or '1h'"},
		"block type":         {asks(`{"type":"smell"}`), "messages.0.content.0: Input tag 'smell' found using 'type' does not match any of the expected tags: 'advisor_tool_result', "},
		"system type":        {`"system":[{"type":"image"}]`, "system.0.type: Input should be 'text'"},
		"image":              {asks(`{"type":"image"}`), "messages.0.content.0.image.source: Field required"},
		"image source":       {asks(`{"type":"image","source":{"type":"path"}}`), "messages.0.content.0.image.source: Input tag 'path'"},
		"image media":        {asks(`{"type":"image","source":{"type":"base64","media_type":"image/tiff","data":"x"}}`), "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg'"},
		"prefill":            {`"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"So "}]`, "messages: final assistant content cannot end with trailing whitespace"},
		"same call":          {`"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"n","input":{}},{"type":"tool_use","id":"t","name":"n","input":{}}]}]`, "messages.0.content.1: `tool_use` ids must be unique"},
		"result from model":  {`"messages":[{"role":"assistant","content":[{"type":"tool_result","tool_use_id":"t"}]}]`, "`tool_result` blocks can only be in `user` messages"},
		"call from user":     {asks(`{"type":"tool_use","id":"t","name":"n","input":{}}`), "`tool_use` blocks can only be in `assistant` messages"},
		"compaction":         {`"compaction":{"type":"forget"}`, "compaction: Input tag 'forget'"},
		"duplicate tools":    {`"tools":[{"type":"bash_20250124","name":"bash"},{"name":"bash","input_schema":{"type":"object"}}]`, "tools: Tool names must be unique."},
		"result without id":  {asks(`{"type":"tool_result"}`), "messages.0.content.0.tool_result.tool_use_id: Field required"},
		"messages are empty": {`"messages":[]`, "messages: at least one message is required"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t)
			response, body := s.post("/v1/messages", `{"model":"m","max_tokens":2048,"messages":[{"role":"user","content":"x"}],`+test.fields+"}")
			require.Equal(t, http.StatusBadRequest, response.StatusCode, body)

			var failure struct {
				Type  string
				Error struct{ Type, Message string }
			}

			require.NoError(t, json.Unmarshal([]byte(body), &failure))
			require.Equal(t, "error", failure.Type)
			require.Equal(t, "invalid_request_error", failure.Error.Type)
			require.Contains(t, failure.Error.Message, test.message)
			require.Zero(t, s.CallCount(), "the script is not asked")
		})
	}
}

// Values at a limit are accepted, as are the words in the published schema.
func TestBoundaryValuesAreAccepted(t *testing.T) {
	t.Parallel()

	for _, fields := range []string{
		`"temperature":0,"top_p":1,"top_k":0,"service_tier":"standard_only","stop_sequences":["a"," b "]`,
		`"temperature":1,"top_p":0.95,"thinking":{"type":"adaptive","display":"omitted"},"output_config":{"effort":"xhigh"}`,
		`"top_p":-1,"top_k":-1`,
		`"temperature":null,"top_p":null,"top_k":null,"service_tier":null,"cache_control":null,"thread":null,"container":"c","mcp_servers":[]`,
		`"thinking":{"type":"enabled","budget_tokens":1024}`, `"thinking":{"type":"disabled"},"temperature":0.5`, `"thinking":{"type":"between_tools"}`,
		someTool + `,"tool_choice":{"type":"tool","name":"get","disable_parallel_tool_use":true}`, `"tool_choice":{"type":"auto"}`,
		`"tools":[{"type":"mcp_toolset","mcp_server_name":"a"},{"type":"mcp_toolset","mcp_server_name":"b"},{"type":"memory_20250818","name":"memory"}]`,
		`"system":[` + marked + `,` + marked + `],"messages":[{"role":"user","content":[` + marked + `,` + marked + `]}]`,
		`"max_tokens":0`, `"messages":[{"role":"user","content":"a"},{"role":"assistant","content":"So"}]`,
		`"messages":[{"role":"user","content":[{"type":"document","source":{"type":"file","file_id":"f"}},{"type":"container_upload","file_id":"f"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"x"}}]}]`,
	} {
		s := serve(t, script.Reply{Text: "ok"})
		response, body := s.post("/v1/messages", `{"model":"m","max_tokens":2048,"messages":[{"role":"user","content":"x"}],`+fields+"}")
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", fields, body)
	}
}
