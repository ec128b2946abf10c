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
