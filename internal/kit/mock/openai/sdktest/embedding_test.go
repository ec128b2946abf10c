package sdktest_test

import (
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

func TestOfficialLibraryReadsEmbeddings(t *testing.T) {
	t.Parallel()

	client := serve(t).sdk()
	answer, err := client.Embeddings.New(t.Context(), sdk.EmbeddingNewParams{
		Model: "text-embedding-3-large", Dimensions: sdk.Int(8),
		Input: sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: []string{"disk full", "pod crashed"}},
	})
	require.NoError(t, err)
	require.Len(t, answer.Data, 2)
	require.Equal(t, "text-embedding-3-large", answer.Model)
	require.EqualValues(t, 6, answer.Usage.PromptTokens)

	for i, text := range []string{"disk full", "pod crashed"} {
		require.EqualValues(t, i, answer.Data[i].Index)

		for j, want := range exchange.Vector(text, 8) {
			require.InDelta(t, want, answer.Data[i].Embedding[j], 1e-7)
		}
	}
}
