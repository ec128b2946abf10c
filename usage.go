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

// What LLM calls are for, as UsageSummary.ByKind names it.
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
	// What all sessions together may cost per day (UTC), as configured; zero if there is no limit. Notes do not count.
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

// QualityBy is what the rows of a Quality are about.
type QualityBy string

// What rows can be about.
const (
	QualityByChain     QualityBy = "chain"
	QualityByAgent     QualityBy = "agent"
	QualityByModel     QualityBy = "model"
	QualityByAlertType QualityBy = "alert_type"
)

// QualityBys lists what rows can be about, the default first.
func QualityBys() []QualityBy {
	return []QualityBy{QualityByChain, QualityByAgent, QualityByModel, QualityByAlertType}
}

// Quality is how good the conclusions of a period are.
type Quality struct {
	// The period; sessions count that completed in it.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// What the rows are about.
	By QualityBy `json:"by"`
	// All sessions of the period. Its key is empty.
	Total QualityRow `json:"total"`
	// One row per chain, agent, model or alert type, the one with the most sessions first; empty, not nil. With agents and models a session
	// counts in each row that took part in it.
	Rows []QualityRow `json:"rows"`
	// One row per day in UTC that has sessions, the earliest first, with the date as key; empty, not nil.
	Days []QualityRow `json:"days"`
}

// QualityRow counts sessions and what people said about them.
type QualityRow struct {
	// The chain, agent, model, alert type or date that the row is about.
	Key string `json:"key"`
	// Sessions that completed and are not deleted. Failed, cancelled and timed-out ones have no conclusion and do not count.
	Sessions int `json:"sessions"`
	// How many of them have each outcome, all of which are listed; those without a verdict are in none.
	Outcomes map[Outcome]int `json:"outcomes"`
	// Opinions of people, one per person and session.
	Right  int `json:"right"`
	Partly int `json:"partly"`
	Wrong  int `json:"wrong"`
	// Right opinions among all of them, from 0 to 1; nil without any.
	Agreement *float64 `json:"agreement"`
	// Milliseconds from the alert to the end of its session, median and 95th percentile, within two percent; nil without sessions.
	TimeToVerdictP50MS *int64 `json:"time_to_verdict_p50_ms"`
	TimeToVerdictP95MS *int64 `json:"time_to_verdict_p95_ms"`
	// Cost of the sessions without follow-up questions, and divided by their alerts: a storm has many, every other session one. Sessions
	// whose price is not known are in neither; both are nil if there are no others.
	CostUSD         *float64 `json:"cost_usd"`
	CostPerAlertUSD *float64 `json:"cost_per_alert_usd"`
}
