package engine

import (
	"context"
	"log/slog"
	"strconv"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/progress"
)

// Budgets are usage caps: for one session, including questions about it, and for all sessions of all servers in a day (UTC). Agents that
// find one reached are asked to conclude.
type Budgets struct {
	Session Budget
	Daily   Budget
}

// Budget is a set of caps; zero means no cap.
type Budget struct {
	MaxTokens    int
	MaxCostUSD   float64
	MaxToolCalls int
}

func (b Budget) caps() bool { return b != Budget{} }

// reached reports whether a cap is reached, and describes it for people.
func (b Budget) reached(of string, spent tarsy.Spend) (string, bool) {
	switch {
	case b.MaxTokens > 0 && spent.Usage.TotalTokens >= b.MaxTokens:
		return of + " tokens: " + thousands(spent.Usage.TotalTokens) + " of " + thousands(b.MaxTokens), true
	case b.MaxCostUSD > 0 && spent.Usage.CostUSD >= b.MaxCostUSD:
		return of + " cost: " + tarsy.FormatUSD(spent.Usage.CostUSD) + " of " + tarsy.FormatUSD(b.MaxCostUSD), true
	case b.MaxToolCalls > 0 && spent.ToolCalls >= b.MaxToolCalls:
		return of + " tool calls: " + thousands(spent.ToolCalls) + " of " + thousands(b.MaxToolCalls), true
	default:
		return "", false
	}
}

// thousands formats 12000 as 12,000.
func thousands(n int) string {
	const group = 3

	text := strconv.Itoa(n)
	for i := len(text) - group; i > 0; i -= group {
		text = text[:i] + "," + text[i:]
	}

	return text
}

// budgetReached returns ForcedBudget and the cap if one that applies to this session is reached. The session's spending is in its rows, so
// every server that holds the session gets the same answer.
func (r *sessionRun) budgetReached(ctx context.Context) (why tarsy.ForcedConclusion, reachedCap string) {
	if b := r.engine.settings.Load().Budgets.Session; b.caps() {
		var spent tarsy.Spend

		r.memory.read(func(state *progress.State) { spent = spentBy(state.LLMInteractions, len(state.MCPInteractions)) })

		if text, reached := b.reached("session", spent); reached {
			return tarsy.ForcedBudget, text
		}
	}

	if text, reached := r.engine.ledger.spent(ctx); reached {
		return tarsy.ForcedBudget, text
	}

	return tarsy.NotForced, ""
}

func spentBy(calls []tarsy.LLMInteraction, toolCalls int) tarsy.Spend {
	spent := tarsy.Spend{ToolCalls: toolCalls}
	for _, c := range calls {
		spent.Usage.Add(c.Usage)
	}

	return spent
}

const (
	// ledgerFresh is how long an answer of the database is used, and ledgerShare is the minimum ratio of that time to the duration of the
	// query, so that the query never becomes a significant load.
	ledgerFresh = time.Second
	ledgerShare = 20
)

// ledger tracks what all servers together have spent today: what the database reported recently, plus what this server has committed since.
// That sum can only show that some budget is left. That a cap is reached must come from the database, because a step that is committed
// during the query may be in both. If the database does not respond, the sum is used until it does.
type ledger struct {
	// budget returns the daily budget as currently configured. If it has no caps, the database is not queried.
	budget func() Budget
	read   func(ctx context.Context, from time.Time) (tarsy.Spend, error)
	clock  clockwork.Clock
	logger *slog.Logger

	// reading is held while querying the database; everyone else waits for the result.
	reading sync.Mutex

	mu  sync.Mutex
	day time.Time
	// held is the last result from the database, valid until refreshedAt. asked is what was committed before the query in flight, since is
	// what was committed after it began.
	held, asked, since tarsy.Spend
	refreshedAt        time.Time
	// confirmed means that held came from the database and nothing has been added to it.
	confirmed bool
	// reached is kept for the rest of the day unless the budget changes, because spending never decreases.
	reached string
	// known is the budget that reached refers to.
	known Budget
}

// add counts a step that this server has committed.
func (l *ledger) add(step progress.Step) {
	if len(step.LLMInteractions) == 0 && len(step.MCPInteractions) == 0 {
		return
	}

	started := 0

	for _, c := range step.MCPInteractions {
		if c.Status == tarsy.CallStarted && c.Attempt <= 1 {
			started++
		}
	}

	l.mu.Lock()
	defer l.mu.Unlock()

	l.since.Add(spentBy(step.LLMInteractions, started))
}

// spent reports whether a daily cap is reached, and which.
func (l *ledger) spent(ctx context.Context) (string, bool) {
	if !l.budget().caps() {
		return "", false
	}

	text, reached, fresh := l.snapshot(false)
	if fresh {
		return text, reached
	}

	l.reading.Lock()
	defer l.reading.Unlock()

	// Another goroutine may have queried in the meantime.
	if text, reached, fresh = l.snapshot(false); fresh {
		return text, reached
	}

	l.ask(ctx)
	text, reached, _ = l.snapshot(true)

	return text, reached
}

// snapshot returns the current state, and whether it is fresh: the database must be queried if its last answer is too old, and before a cap
// is reported as reached. asked means that it was just queried.
func (l *ledger) snapshot(asked bool) (text string, reached, fresh bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	now := l.clock.Now()
	if day := now.UTC().Truncate(24 * time.Hour); !day.Equal(l.day) {
		l.day, l.reached, l.refreshedAt, l.confirmed = day, "", time.Time{}, false
		l.held, l.asked, l.since = tarsy.Spend{}, tarsy.Spend{}, tarsy.Spend{}
	}

	if budget := l.budget(); budget != l.known {
		l.known, l.reached, l.refreshedAt = budget, "", time.Time{}
	}

	if l.reached != "" {
		return l.reached, true, true
	}

	if asked {
		text, reached = l.known.reached("daily", l.held)
		if l.confirmed {
			l.reached = text
		}

		return text, reached, true
	}

	estimate := l.held
	estimate.Add(l.asked)
	estimate.Add(l.since)

	_, reached = l.known.reached("daily", estimate)

	return "", false, !reached && now.Before(l.refreshedAt)
}

// ask queries the database. If that fails, the values known so far are used until the next query.
func (l *ledger) ask(ctx context.Context) {
	l.mu.Lock()
	day := l.day
	l.asked, l.since = l.since, tarsy.Spend{}
	l.mu.Unlock()

	patient, cancel := context.WithTimeout(ctx, databasePatience)
	defer cancel()

	began := l.clock.Now()
	held, err := l.read(patient, day)

	l.mu.Lock()
	defer l.mu.Unlock()

	if !day.Equal(l.day) { // the day changed in the meantime
		return
	}

	if ctx.Err() != nil && err != nil { // the caller is gone; the next one queries again
		l.since.Add(l.asked)
		l.asked = tarsy.Spend{}

		return
	}

	ended := l.clock.Now()
	l.refreshedAt = ended.Add(max(ledgerFresh, ledgerShare*ended.Sub(began)))

	if err != nil {
		l.held.Add(l.asked)
		l.asked, l.confirmed = tarsy.Spend{}, false

		l.logger.Warn("could not read today's spending; using the last known value", "error", err)

		return
	}

	l.held, l.asked, l.confirmed = held, tarsy.Spend{}, true
}
