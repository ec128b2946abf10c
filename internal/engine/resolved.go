package engine

import (
	"context"

	"tarsy.dev/tarsy"
)

// concludeReason returns why investigating agents must conclude before their deadline, if so. For agents that answer questions only budgets
// apply, because people ask about resolved alerts too.
func (r *sessionRun) concludeReason(ctx context.Context) (why tarsy.ForcedConclusion, detail string) {
	if r.memory.isResolved() {
		return tarsy.ForcedResolved, ""
	}

	return r.budgetReached(ctx)
}
