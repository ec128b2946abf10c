package engine

import "tarsy.dev/tarsy/internal/chain"

const (
	// Version is the highest engine version whose sessions this engine can continue. Raise it with a change that makes the
	// engines of earlier releases misread a session: they leave sessions of a higher version alone.
	Version = 4
	// firstVersion continues everything that needs none of the later ones.
	firstVersion = 1
	// chatRulesVersion knows the limits of the tools of a chat. Earlier engines would answer questions without them: to answer,
	// a server needs only the version, not what the recipe needs.
	chatRulesVersion = 2
	// approvalVersion knows calls that wait for a person. Earlier engines would make them.
	approvalVersion = 3
	// unnamedVersion knows approvals.unnamed. Earlier engines would make the calls that it lets wait.
	unnamedVersion = 4
)

// lowestVersion is the lowest engine version that can continue a session of a chain. It is as low as possible, so that
// servers of two releases share the work.
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
