package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/llmtest"
	"tarsy.dev/tarsy/llm/openai"
)

func TestRealAPIConforms(t *testing.T) {
	for api, lacks := range map[string][]llmtest.Feature{
		openai.APIResponses: {llmtest.FeatureStopSequences, llmtest.FeatureStopReason, llmtest.FeatureURLContext},
		openai.APIChat: {
			llmtest.FeatureThinking, llmtest.FeatureSignature, llmtest.FeatureStopSequences, llmtest.FeatureStopReason, llmtest.FeatureNativeTools,
		},
	} {
		t.Run(api, func(t *testing.T) {
			llmtest.RunReal(t, llmtest.RealProvider{
				Name: "openai", KeyVariable: "OPENAI_API_KEY", Model: "gpt-5-mini", Effort: "low", Lacks: lacks,
				New: func(t *testing.T, key string) llm.Client {
					t.Helper()

					client, err := openai.New(openai.Config{APIKey: key, API: api})
					require.NoError(t, err)

					return client
				},
			})
		})
	}
}
