package gemini_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
)

// Clients send the results of functions as the user, or in a separate role.
func TestFunctionResponsesAcceptAllRoles(t *testing.T) {
	t.Parallel()

	for _, role := range []string{"user", "function", "tool"} {
		s := serve(t)
		contents := []*genai.Content{
			genai.NewContentFromText("Why?", genai.RoleUser),
			{Role: genai.RoleModel, Parts: []*genai.Part{genai.NewPartFromFunctionCall("get_pods", map[string]any{"a": "b"})}},
			{Role: role, Parts: []*genai.Part{genai.NewPartFromFunctionResponse("get_pods", map[string]any{"output": "none"})}},
		}
		_, err := sdk(t, s, genai.BackendGeminiAPI).Models.GenerateContent(t.Context(), "gemini-2.5-pro", contents, nil)
		require.NoError(t, err, role)
		require.Equal(t, llm.Message{Role: llm.RoleTool, Content: "none", ToolCallID: "call_1", ToolName: "get_pods"}, s.seen[0].Messages[2])
	}

	response, body := serve(t).post(t, "/v1beta/models/m:generateContent", `{"contents":[{"role":"assistant","parts":[{"text":"a"}]}]}`)
	require.Equal(t, http.StatusBadRequest, response.StatusCode)
	require.Contains(t, body, "Please use a valid role: user, model.")
}
