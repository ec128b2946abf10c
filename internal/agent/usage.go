package agent

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// maxTokens is more than any call can use. Values from a gateway beyond it, or below zero, are not added up: sums would become
// meaningless, and negative usage would increase a budget.
const maxTokens = 1_000_000_000

// UsageOf returns the usage of a call, as its provider reports it, within bounds. It contains no prices.
func UsageOf(u llm.UsageChunk) tarsy.Usage {
	bounded := func(n int) int { return min(max(n, 0), maxTokens) }
	usage := tarsy.Usage{
		InputTokens: bounded(u.InputTokens), OutputTokens: bounded(u.OutputTokens),
		ThinkingTokens: bounded(u.ThinkingTokens), CachedTokens: bounded(u.CachedTokens),
	}
	usage.TotalTokens = usage.InputTokens + usage.OutputTokens + usage.ThinkingTokens

	return usage
}
