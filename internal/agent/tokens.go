package agent

// Limits of a tool's result, in estimated tokens.
const (
	// storedTokens is how much of a result the timeline and the trace keep.
	storedTokens = 8_000
	// resultTokens is how much of a result any model gets, in a conversation or to summarise.
	resultTokens = 100_000
)

// resultTokens returns how much of a result the agent's model gets.
func (s Spec) resultTokens() int {
	if s.MaxResultTokens > 0 {
		return min(s.MaxResultTokens, resultTokens)
	}

	return resultTokens
}
