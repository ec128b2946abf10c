package agent

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
