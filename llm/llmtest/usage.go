package llmtest

import (
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

func usageCases() map[string]func(*fixture) {
	return map[string]func(*fixture){
		"usage is counted": usage,
		"usage tells cached and thinking tokens apart":         usageInParts,
		"usage of a call that was cut by its limit is counted": usageOfCut,
	}
}

func usage(f *fixture) {
	want := llm.UsageChunk{InputTokens: 1234, OutputTokens: 56}
	f.script.Add(script.Reply{Text: "fine", Usage: &want})
	require.Equal(f, want, f.answer(f.request()).Usage)
}

func usageInParts(f *fixture) {
	want := llm.UsageChunk{InputTokens: 1000, CachedTokens: 800, OutputTokens: 50, ThinkingTokens: 30}
	f.script.Add(script.Reply{Text: "fine", Usage: &want})

	got := f.answer(f.request()).Usage
	require.Equal(f, want.InputTokens, got.InputTokens, "input includes what was cached")

	if f.p.has(FeatureCachedTokens) {
		require.Equal(f, want.CachedTokens, got.CachedTokens)
	}

	if f.p.has(FeatureThinkingTokens) {
		require.Equal(f, want.OutputTokens, got.OutputTokens, "output does not include thinking")
		require.Equal(f, want.ThinkingTokens, got.ThinkingTokens)
	}

	require.Equal(f, want.OutputTokens+want.ThinkingTokens, got.OutputTokens+got.ThinkingTokens, "every token is paid for once")
}

func usageOfCut(f *fixture) {
	f.script.Add(cutReply())
	require.Equal(f, llm.UsageChunk{InputTokens: 5, OutputTokens: 77}, f.answer(f.request()).Usage)
}
