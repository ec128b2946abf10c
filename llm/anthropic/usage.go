package anthropic

import (
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/internal/wire"
)

// usage counts tokens as the API does: what was read from the cache or written to it is not part of the input, while thinking
// is part of the output.
type usage struct {
	input, read, written, output, thinking wire.Count
}

func (u *usage) start(first tokens) {
	*u = usage{}
	u.update(first)
}

// update applies the counts that the end of an answer repeats; counts that it omits stay unchanged.
func (u *usage) update(last tokens) {
	for _, count := range []struct{ from, to *wire.Count }{
		{last.InputTokens, &u.input}, {last.CacheReadInputTokens, &u.read}, {last.CacheCreationInputTokens, &u.written}, {last.OutputTokens, &u.output},
	} {
		if count.from != nil {
			*count.to = *count.from
		}
	}

	if last.OutputTokensDetails != nil {
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
