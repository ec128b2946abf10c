package engine

import "tarsy.dev/tarsy/internal/chain"

const (
	// Version is the highest engine version whose sessions this engine can continue. Raise it with a change that makes engines of earlier
	// releases misread a session; they leave sessions of a higher version alone.
	Version = 4
	// firstVersion can continue every session that needs no later version.
	firstVersion = 1
	// chatRulesVersion knows the tool limits of a chat. Earlier engines would answer questions without them, because answering requires
	// only the version, not what the recipe needs.
	chatRulesVersion = 2
	// approvalVersion knows calls that wait for a person's approval. Earlier engines would make them.
	approvalVersion = 3
	// unnamedVersion knows approvals.unnamed. Earlier engines would make the calls that must wait because of it.
	unnamedVersion = 4
)

// lowestVersion returns the lowest engine version that can continue a session of a chain. Keeping it as low as possible lets servers of two
// releases share the work.
func lowestVersion(c chain.Chain) int {
	if c.AsksUnnamed() {
		return unnamedVersion
	}

	if c.MayAsk() {
		return approvalVersion
	}

	if c.Chat != nil && len(c.Chat.ToolRules) > 0 {
		return chatRulesVersion
	}

	return firstVersion
}
