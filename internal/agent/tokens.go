package agent

import (
	"fmt"
	"unicode/utf8"

	"tarsy.dev/tarsy"
)

// bytesPerToken is the estimate that every limit in tokens rests on: near enough for a threshold, not for a bill.
const bytesPerToken = 4

// The limits of a tool's result, in estimated tokens.
const (
	// storedTokens is how much of it the timeline and the trace keep.
	storedTokens = 8_000
	// resultTokens is how much of it any model is given, in a conversation or to be summarised.
	resultTokens = 100_000
)

// resultTokens is how much of a result the agent's model is given.
func (s Spec) resultTokens() int {
	if s.MaxResultTokens > 0 {
		return min(s.MaxResultTokens, resultTokens)
	}

	return resultTokens
}

// EstimateTokens guesses how many tokens a text has, rounded up.
func EstimateTokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// truncate cuts text to a number of estimated tokens, at a rune's boundary, with a note at its end that counts as
// part of them: what was cut once is not cut again.
func truncate(text string, tokens int) string {
	if len(text) <= tokens*bytesPerToken {
		return text
	}

	note := fmt.Sprintf("\n\n[cut: the first %d of about %d tokens are shown]", tokens, EstimateTokens(text))

	return tarsy.CutText(text, max(tokens*bytesPerToken-len(note), 0)) + note
}

// truncateFront keeps the end of a text instead of its beginning.
func truncateFront(text string, tokens int) string {
	if len(text) <= tokens*bytesPerToken {
		return text
	}

	note := fmt.Sprintf("[cut: the last %d of about %d tokens are shown]\n\n", tokens, EstimateTokens(text))
	from := len(text) - max(tokens*bytesPerToken-len(note), 0)

	for from < len(text) && !utf8.RuneStart(text[from]) {
		from++
	}

	return note + text[from:]
}
