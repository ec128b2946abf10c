package anthropic_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm/script"
)

// A runner sends a turn that the provider paused back unchanged, with its unfinished calls.
func TestPausedTurnIsContinued(t *testing.T) {
	t.Parallel()

	const (
		asked  = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Why?"},{"role":"assistant","content":[`
		search = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}`
		found  = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
		call   = `{"type":"tool_use","id":"toolu_1","name":"get_pods","input":{}}`
	)

	s := serve(t, script.Reply{Text: "ok"}, script.Reply{Text: "ok"})

	for _, turn := range []string{search, call + "," + search} {
		response, body := s.post("/v1/messages", asked+turn+`]}]}`)
		require.Equal(t, http.StatusOK, response.StatusCode, body)
	}

	response, body := s.post("/v1/messages", asked+search+","+found+","+call+`]}]}`)
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Contains(t, body, "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1")
}
