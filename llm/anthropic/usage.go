package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"tarsy.dev/tarsy/llm"
)

// usage counts tokens as the API does: what was read from the cache or written to it is not part of the input, while
// thinking is part of the output.
type usage struct {
	input, read, written, output, thinking int64
}

func (u *usage) start(first sdk.Usage) {
	*u = usage{
		input: first.InputTokens, read: first.CacheReadInputTokens, written: first.CacheCreationInputTokens,
		output: first.OutputTokens, thinking: first.OutputTokensDetails.ThinkingTokens,
	}
}

// update takes the counts that the end of an answer tells again; those that it leaves out hold on.
func (u *usage) update(last sdk.MessageDeltaUsage) {
	if last.JSON.InputTokens.Valid() {
		u.input = last.InputTokens
	}

	if last.JSON.CacheReadInputTokens.Valid() {
		u.read = last.CacheReadInputTokens
	}

	if last.JSON.CacheCreationInputTokens.Valid() {
		u.written = last.CacheCreationInputTokens
	}

	if last.JSON.OutputTokens.Valid() {
		u.output = last.OutputTokens
	}

	if last.JSON.OutputTokensDetails.Valid() {
		u.thinking = last.OutputTokensDetails.ThinkingTokens
	}
}

func (u *usage) chunk() llm.UsageChunk {
	thinking := min(u.thinking, u.output)

	return llm.UsageChunk{
		InputTokens: int(u.input + u.read + u.written), CachedTokens: int(u.read),
		OutputTokens: int(u.output - thinking), ThinkingTokens: int(thinking),
	}
}
