package agent

import (
	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// maxTokens is more than any call can use. What a gateway invents beyond it, or below nothing, is not added up: sums would
// no longer be numbers that anybody can read, and a budget would grow by being spent.
const maxTokens = 1_000_000_000

// UsageOf is what a call used, as its provider reports it, within bounds. Prices are not in it.
func UsageOf(u llm.UsageChunk) tarsy.Usage {
	bounded := func(n int) int { return min(max(n, 0), maxTokens) }
	usage := tarsy.Usage{
		InputTokens: bounded(u.InputTokens), OutputTokens: bounded(u.OutputTokens),
		ThinkingTokens: bounded(u.ThinkingTokens), CachedTokens: bounded(u.CachedTokens),
	}
	usage.TotalTokens = usage.InputTokens + usage.OutputTokens + usage.ThinkingTokens

	return usage
}
