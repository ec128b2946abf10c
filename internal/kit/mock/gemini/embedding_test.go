package gemini_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genai"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

func TestOfficialSDKReadsEmbeddings(t *testing.T) {
	t.Parallel()

	client := sdk(t, serve(t), genai.BackendGeminiAPI)
	contents := []*genai.Content{genai.NewContentFromText("disk full", "user"), genai.NewContentFromText("pod crashed", "user")}
	answer, err := client.Models.EmbedContent(t.Context(), "gemini-embedding-001", contents, &genai.EmbedContentConfig{OutputDimensionality: genai.Ptr[int32](8)})
	require.NoError(t, err)
	require.Len(t, answer.Embeddings, 2)
	require.Equal(t, exchange.Vector("disk full", 8), answer.Embeddings[0].Values)
	require.Equal(t, exchange.Vector("pod crashed", 8), answer.Embeddings[1].Values)
}

func TestEmbedContentReturnsOneVector(t *testing.T) {
	t.Parallel()

	s := serve(t)

	for path, body := range map[string]string{
		"/v1beta/models/gemini-embedding-001:embedContent": `{"model":"models/gemini-embedding-001","content":{"parts":[{"text":"disk full"}]},"outputDimensionality":3}`,
		"/models/gemini-embedding-001:embedContent":        `{"content":{"parts":[{"text":"disk full"}]},"output_dimensionality":3}`,
		"/v1beta/models/gemini-embedding-2:embedContent":   `{"content":{"parts":[{"text":"disk full"}]},"embedContentConfig":{"outputDimensionality":3}}`,
	} {
		response, answer := s.post(t, path, body)
		require.Equal(t, http.StatusOK, response.StatusCode, answer)
		require.JSONEq(t, `{"embedding":{"values":[-0.29897776,-0.9416837,0.15441526]}}`, answer)
	}

	for model, want := range map[string]int{"gemini-embedding-001": 3072, "text-embedding-004": 768} {
		_, answer := s.post(t, "/v1beta/models/"+model+":embedContent", `{"content":{"parts":[{"text":"a"}]}}`)
		require.Equal(t, want-1, strings.Count(answer, ","), model)
	}

	require.Empty(t, s.seen, "the script is not asked")
}

func TestBadEmbeddingRequestsAreRefused(t *testing.T) {
	t.Parallel()

	s := serve(t)
	one := `{"content":{"parts":[{"text":"a"}]}}`

	for body, want := range map[string]string{
		`{}`:                           "content is not specified",
		`{"content":{"parts":[]}}`:     "content is not specified",
		`{"content":{"parts":[{}]}}`:   "required oneof field 'data'",
		`{"content":{"parts":"text"}}`: "Invalid value at 'content.parts'",
		`{"content":{"parts":[{"text":"a"}]},"outputDimensionality":0}`:    "must be between 1 and 4096",
		`{"content":{"parts":[{"text":"a"}]},"outputDimensionality":5000}`: "must be between 1 and 4096",
		`{"model":"models/other","content":{"parts":[{"text":"a"}]}}`:      "the path names 'models/e'",
		`{`: "Invalid JSON payload",
	} {
		response, answer := s.post(t, "/v1beta/models/e:embedContent", body)
		require.Equal(t, http.StatusBadRequest, response.StatusCode, body)
		require.Contains(t, answer, want, body)
	}

	for body, want := range map[string]string{
		`{}`:                            "requests is not specified",
		`{"requests":[` + one + `,{}]}`: "requests[1].content",
		`{"requests":[` + one + strings.Repeat(","+one, 100) + `]}`: "at most 100 requests",
	} {
		response, answer := s.post(t, "/v1beta/models/e:batchEmbedContents", body)
		require.Equal(t, http.StatusBadRequest, response.StatusCode, body)
		require.Contains(t, answer, want)
	}
}
