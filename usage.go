package tarsy

import (
	"fmt"
	"math"
	"time"
)

// Spend is the total of tokens, their cost, and tool calls.
type Spend struct {
	// Sum over LLM calls, including failed ones.
	Usage Usage `json:"usage"`
	// Number of MCP calls, whatever their outcome.
	ToolCalls int `json:"tool_calls"`
}

// Add adds other to s.
func (s *Spend) Add(other Spend) {
	s.Usage.Add(other.Usage)
	s.ToolCalls += other.ToolCalls
}

// The purposes of LLM calls, as named in UsageSummary.ByKind.
const (
	// Investigations with their chats.
	UsageSessions = "sessions"
	// Extraction and organization of notes.
	UsageNotes = "notes"
)

// UsageSummary is the usage of all sessions and notes in a period. It includes deleted ones, because their usage was paid for.
type UsageSummary struct {
	// The period in UTC: From is inclusive, To is exclusive.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Configured cost limit per day (UTC) for all sessions together; zero if there is no limit. Notes do not count.
	DailyBudgetUSD float64 `json:"daily_budget_usd"`
	// Everything together; its name is empty.
	Total SpendShare `json:"total"`
	// Named by date in UTC (2006-01-02), in order. Days without usage are left out.
	ByDay []SpendShare `json:"by_day"`
	// Sessions and notes, most expensive first. A kind without usage is left out.
	ByKind []SpendShare `json:"by_kind"`
	// Sessions only, most expensive first.
	ByAlertType []SpendShare `json:"by_alert_type"`
	// Most expensive first. Tool calls have no model or provider and are not included.
	ByModel    []UsageShare `json:"by_model"`
	ByProvider []UsageShare `json:"by_provider"`
}

// UsageShare is the usage of LLM calls grouped under one name.
type UsageShare struct {
	// Day, kind, alert type, model or provider, depending on the list.
	Name string `json:"name"`
	// Number of calls, including failed ones.
	LLMCalls int `json:"llm_calls"`
	// Sum over these calls.
	Usage Usage `json:"usage"`
}

// SpendShare is the usage of LLM and tool calls grouped under one name.
type SpendShare struct {
	UsageShare

	// Number of MCP calls, whatever their outcome.
	ToolCalls int `json:"tool_calls"`
}

// FormatUSD formats an amount for display. Calls cost fractions of a cent, so amounts below $100 have four decimals.
func FormatUSD(amount float64) string {
	const whole = 100

	if math.Abs(amount) >= whole {
		return fmt.Sprintf("$%.2f", amount)
	}

	return fmt.Sprintf("$%.4f", amount)
}

// QualityBy is what the rows of a Quality are grouped by.
type QualityBy string

// The groupings.
const (
	QualityByChain     QualityBy = "chain"
	QualityByAgent     QualityBy = "agent"
	QualityByModel     QualityBy = "model"
	QualityByAlertType QualityBy = "alert_type"
)

// QualityBys lists every grouping, the default first.
func QualityBys() []QualityBy {
	return []QualityBy{QualityByChain, QualityByAgent, QualityByModel, QualityByAlertType}
}

// Quality rates the conclusions of a period.
type Quality struct {
	// The period. It covers the sessions that completed in it.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// What the rows are grouped by.
	By QualityBy `json:"by"`
	// All sessions of the period. Its key is empty.
	Total QualityRow `json:"total"`
	// One row per chain, agent, model or alert type, ordered by number of sessions, most first; empty, not nil. If grouped by agent or
	// model, a session counts in the row of each one that took part in it.
	Rows []QualityRow `json:"rows"`
	// One row per day in UTC that has sessions, earliest first, with the date as key; empty, not nil.
	Days []QualityRow `json:"days"`
}

// QualityRow counts sessions and the feedback on them.
type QualityRow struct {
	// The chain, agent, model, alert type or date of the row.
	Key string `json:"key"`
	// Sessions that completed and are not deleted. Failed, cancelled and timed-out ones have no conclusion and do not count.
	Sessions int `json:"sessions"`
	// Number of sessions by outcome. Every outcome is listed; sessions without a verdict are in none.
	Outcomes map[Outcome]int `json:"outcomes"`
	// Ratings, one per person and session.
	Right  int `json:"right"`
	Partly int `json:"partly"`
	Wrong  int `json:"wrong"`
	// Share of ratings that are right, from 0 to 1; nil without ratings.
	Agreement *float64 `json:"agreement"`
	// Milliseconds from the alert to the end of its session, median and 95th percentile, within two percent; nil without sessions.
	TimeToVerdictP50MS *int64 `json:"time_to_verdict_p50_ms"`
	TimeToVerdictP95MS *int64 `json:"time_to_verdict_p95_ms"`
	// Cost of the sessions without follow-up questions, and the same divided by their alerts: a storm has many, every other session one.
	// Sessions of unknown price are in neither; both are nil if there are no others.
	CostUSD         *float64 `json:"cost_usd"`
	CostPerAlertUSD *float64 `json:"cost_per_alert_usd"`
}
