package gemini_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// sdk returns Google's own client, for the Gemini API or for Vertex AI.
func sdk(t *testing.T, s *server, backend genai.Backend) *genai.Client {
	t.Helper()

	cfg := &genai.ClientConfig{Backend: backend, HTTPClient: s.Client(), HTTPOptions: genai.HTTPOptions{BaseURL: s.URL}}
	if backend == genai.BackendVertexAI {
		cfg.Project, cfg.Location = "p", "us-central1"
	} else {
		cfg.APIKey = "any"
	}

	client, err := genai.NewClient(t.Context(), cfg)
	require.NoError(t, err)

	return client
}

func TestOfficialSDKReadsEveryAnswerType(t *testing.T) {
	t.Parallel()

	for name, backend := range map[string]genai.Backend{"Gemini API": genai.BackendGeminiAPI, "Vertex AI": genai.BackendVertexAI} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := serve(t, thinkingReply, thinkingReply, callsReply, nativeReply)
			client := sdk(t, s, backend)
			config := &genai.GenerateContentConfig{ThinkingConfig: &genai.ThinkingConfig{IncludeThoughts: true}}

			whole, err := client.Models.GenerateContent(t.Context(), "gemini-2.5-pro", genai.Text("hi"), config)
			require.NoError(t, err)
			require.Equal(t, "hello there", whole.Text())
			require.Equal(t, genai.FinishReasonStop, whole.Candidates[0].FinishReason)
			require.EqualValues(t, 17, whole.UsageMetadata.TotalTokenCount)
			require.EqualValues(t, 6, whole.UsageMetadata.CachedContentTokenCount)
			require.EqualValues(t, 4, whole.UsageMetadata.ThoughtsTokenCount)
			require.Equal(t, "gemini-2.5-pro", whole.ModelVersion)
			require.NotEmpty(t, whole.ResponseID)

			thought, signed := whole.Candidates[0].Content.Parts[0], whole.Candidates[0].Content.Parts[1]
			require.True(t, thought.Thought)
			require.Equal(t, "hm", thought.Text)
			require.Equal(t, "thought_b82e2178ecf4d0c5859dc2e1", string(signed.ThoughtSignature))

			var streamed []string

			for piece, err := range client.Models.GenerateContentStream(t.Context(), "gemini-2.5-pro", genai.Text("hi"), config) {
				require.NoError(t, err)

				streamed = append(streamed, piece.Text())
			}

			require.Equal(t, []string{"", "hello ", "there", ""}, streamed)

			called, err := client.Models.GenerateContent(t.Context(), "gemini-2.5-pro", genai.Text("hi"), config)
			require.NoError(t, err)
			require.Len(t, called.FunctionCalls(), 2)
			require.Equal(t, map[string]any{"ns": "a <b>"}, called.FunctionCalls()[0].Args)
			require.Equal(t, "call_2", called.FunctionCalls()[1].ID)

			native, err := client.Models.GenerateContent(t.Context(), "gemini-2.5-pro", genai.Text("hi"), nil)
			require.NoError(t, err)
			require.Equal(t, "print(1)\n", native.ExecutableCode())
			require.Equal(t, "1\n", native.CodeExecutionResult())
			require.Equal(t, []string{"q1", "q2"}, native.Candidates[0].GroundingMetadata.WebSearchQueries)
			require.Equal(t, "https://b.example", native.Candidates[0].GroundingMetadata.GroundingChunks[1].Web.URI)
			require.Equal(t, "https://c.example", native.Candidates[0].URLContextMetadata.URLMetadata[0].RetrievedURL)
			require.Equal(t, genai.FinishReasonMaxTokens, native.Candidates[0].FinishReason)
		})
	}
}

func TestOfficialSDKRequestIsParsed(t *testing.T) {
	t.Parallel()

	s := serve(t)
	_, err := sdk(t, s, genai.BackendGeminiAPI).Models.GenerateContent(t.Context(), "gemini-2.5-pro", []*genai.Content{
		genai.NewContentFromText("look", genai.RoleUser),
		{Role: genai.RoleModel, Parts: []*genai.Part{{
			FunctionCall: &genai.FunctionCall{ID: "c1", Name: "get", Args: map[string]any{"a": 1}}, ThoughtSignature: []byte{0xff, 1},
		}}},
		genai.NewContentFromFunctionResponse("get", map[string]any{"output": "done"}, genai.RoleUser),
	}, &genai.GenerateContentConfig{
		SystemInstruction: genai.NewContentFromText("be brief", genai.RoleUser), MaxOutputTokens: 9, StopSequences: []string{"X"},
		Tools: []*genai.Tool{{FunctionDeclarations: []*genai.FunctionDeclaration{{
			Name: "get", Parameters: &genai.Schema{Type: genai.TypeObject},
		}}}},
		ThinkingConfig: &genai.ThinkingConfig{ThinkingBudget: genai.Ptr[int32](0)},
	})
	require.NoError(t, err)

	asked := s.asked(t)
	require.Equal(t, []llm.Message{
		{Role: llm.RoleSystem, Content: "be brief"},
		{Role: llm.RoleUser, Content: "look"},
		{
			Role: llm.RoleAssistant, ToolCalls: []llm.ToolCall{{ID: "c1", Name: "get", Arguments: `{"a":1}`}},
			Signature: &llm.Signature{By: "wire", Data: json.RawMessage(`"/wE="`)},
		},
		{Role: llm.RoleTool, Content: "done", ToolCallID: "c1", ToolName: "get"},
	}, asked.Messages)
	require.JSONEq(t, `{"type":"OBJECT"}`, string(asked.Tools[0].Schema))
	require.Equal(t, "none", asked.ReasoningEffort)
	require.Equal(t, 9, asked.MaxOutputTokens)
	require.Equal(t, []string{"X"}, asked.Stop)
}

func TestOfficialSDKReadsModelsTokensAndErrors(t *testing.T) {
	t.Parallel()

	s := serve(t, script.Reply{Err: &llm.Error{Class: llm.ClassQuota, Status: http.StatusTooManyRequests, Message: "later", RetryAfter: 7 * time.Second}})
	client := sdk(t, s, genai.BackendGeminiAPI)

	page, err := client.Models.List(t.Context(), nil)
	require.NoError(t, err)
	require.Equal(t, "models/gemini-2.5-flash", page.Items[0].Name)
	require.Contains(t, page.Items[0].SupportedActions, "generateContent")

	model, err := client.Models.Get(t.Context(), "any-model", nil)
	require.NoError(t, err)
	require.Equal(t, "models/any-model", model.Name)

	count, err := client.Models.CountTokens(t.Context(), "gemini-2.5-pro", genai.Text("12345678"), nil)
	require.NoError(t, err)
	require.EqualValues(t, 2, count.TotalTokens)

	_, err = client.Models.GenerateContent(t.Context(), "gemini-2.5-pro", genai.Text("hi"), nil)

	var failure genai.APIError

	require.ErrorAs(t, err, &failure)
	require.Equal(t, http.StatusTooManyRequests, failure.Code)
	require.Equal(t, "RESOURCE_EXHAUSTED", failure.Status)
	require.Equal(t, "later", failure.Message)
	require.Equal(t, "7s", failure.Details[0]["retryDelay"])
}
