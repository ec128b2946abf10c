package tarsy

import "time"

// Quality is how good the conclusions of a period are.
type Quality struct {
	// The period; sessions count that completed in it.
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
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
	Key string `json:"key"`
	// Sessions that completed.
	Sessions int `json:"sessions"`
	// How many of them have each outcome; those without a verdict are in none.
	Outcomes map[Outcome]int `json:"outcomes"`
	// Opinions of people, one per person and session.
	Right  int `json:"right"`
	Partly int `json:"partly"`
	Wrong  int `json:"wrong"`
	// Right opinions among all of them, from 0 to 1; nil without any.
	Agreement *float64 `json:"agreement"`
	// Milliseconds from the alert to the end of its session, median and 95th percentile; nil without sessions.
	TimeToVerdictP50MS *int64 `json:"time_to_verdict_p50_ms"`
	TimeToVerdictP95MS *int64 `json:"time_to_verdict_p95_ms"`
	// Cost of the sessions, and divided by their alerts: a storm has many, every other session one. Nil if no price is known.
	CostUSD         *float64 `json:"cost_usd"`
	CostPerAlertUSD *float64 `json:"cost_per_alert_usd"`
}
