package engine

import (
	"context"

	"tarsy.dev/tarsy"
)

// concludeReason is why agents that investigate must conclude before their deadline, if so. Agents that answer questions have only
// budgets: people ask about resolved alerts too.
func (r *sessionRun) concludeReason(ctx context.Context) (why tarsy.ForcedConclusion, detail string) {
	if r.memory.isResolved() {
		return tarsy.ForcedResolved, ""
	}

	return r.budgetReached(ctx)
}
