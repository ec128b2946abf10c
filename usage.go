package tarsy

import (
	"fmt"
	"math"
	"time"
)

// Spend is what something used: tokens with their cost, and tool calls.
type Spend struct {
	Usage     Usage `json:"usage"`
	ToolCalls int   `json:"tool_calls"`
}

// Add adds what something else used.
func (s *Spend) Add(other Spend) {
	s.Usage.Add(other.Usage)
	s.ToolCalls += other.ToolCalls
}

// UsageSummary is what all sessions used in a time, from From up to To. Sessions that were deleted since count too:
// what they used was paid for.
type UsageSummary struct {
	From  time.Time  `json:"from"`
	To    time.Time  `json:"to"`
	Total SpendShare `json:"total"`
	// ByDay has the days (UTC) on which something was used, in order; the other lists begin with whoever cost most.
	ByDay       []SpendShare `json:"by_day"`
	ByAlertType []SpendShare `json:"by_alert_type"`
	ByModel     []UsageShare `json:"by_model"`
	ByProvider  []UsageShare `json:"by_provider"`
}

// UsageShare is what the LLM calls of one name used.
type UsageShare struct {
	Name     string `json:"name"`
	LLMCalls int    `json:"llm_calls"`
	Usage    Usage  `json:"usage"`
}

// SpendShare is what everything of one name used.
type SpendShare struct {
	UsageShare

	ToolCalls int `json:"tool_calls"`
}

// FormatUSD writes an amount for people: calls cost fractions of a cent, so small amounts have four decimals.
func FormatUSD(amount float64) string {
	const whole = 100

	if math.Abs(amount) >= whole {
		return fmt.Sprintf("$%.2f", amount)
	}

	return fmt.Sprintf("$%.4f", amount)
}
