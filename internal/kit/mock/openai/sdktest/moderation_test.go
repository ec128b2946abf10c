package sdktest_test

import (
	"encoding/json"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/stretchr/testify/require"
)

func TestOfficialLibraryReadsModerations(t *testing.T) {
	t.Parallel()

	client := serve(t).sdk()
	answer, err := client.Moderations.New(t.Context(), sdk.ModerationNewParams{
		Input: sdk.ModerationNewParamsInputUnion{OfStringArray: []string{"disk full", "pod crashed"}},
	})
	require.NoError(t, err)
	require.Regexp(t, `^modr-[0-9a-f]{32}$`, answer.ID)
	require.Equal(t, "omni-moderation-latest", answer.Model)
	require.Len(t, answer.Results, 2)

	for _, result := range answer.Results {
		require.False(t, result.Flagged)
		require.True(t, result.Categories.JSON.HarassmentThreatening.Valid())
		require.Less(t, result.CategoryScores.SelfHarmIntent, 0.01)
		require.Equal(t, []string{"text"}, result.CategoryAppliedInputTypes.Violence)

		var categories map[string]bool

		require.NoError(t, json.Unmarshal([]byte(result.Categories.RawJSON()), &categories))
		require.Len(t, categories, 13)
		require.Empty(t, result.Categories.JSON.ExtraFields, "the library knows all of them")
	}

	one, err := client.Moderations.New(t.Context(), sdk.ModerationNewParams{
		Model: sdk.ModerationModelOmniModeration2024_09_26,
		Input: sdk.ModerationNewParamsInputUnion{OfModerationMultiModalArray: []sdk.ModerationMultiModalInputUnionParam{
			sdk.ModerationMultiModalInputParamOfText("disk full"),
			sdk.ModerationMultiModalInputParamOfImageURL(sdk.ModerationImageURLInputImageURLParam{URL: "https://a.test/1.png"}),
		}},
	})
	require.NoError(t, err)
	require.Len(t, one.Results, 1)
	require.Equal(t, sdk.ModerationModelOmniModeration2024_09_26, one.Model)
	require.Equal(t, []string{"text", "image"}, one.Results[0].CategoryAppliedInputTypes.Violence)
	require.Equal(t, []string{"text"}, one.Results[0].CategoryAppliedInputTypes.Hate)
}
