// Package price computes the cost of LLM calls: tokens times the rate of the model. Rates come from a bundled table and from
// the caller's configuration, which takes precedence. The package knows no provider, no configuration file and no network;
// prices are only as current as the table.
package price

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

const million = 1_000_000

// Rate is the price of a million tokens of a model in USD. Thinking is billed as output.
type Rate struct {
	Input       float64
	CachedInput float64
	Output      float64
	// Long, if not nil, applies to calls whose input is longer than LongAbove tokens: to the whole call, not only to the
	// excess.
	Long      *Rate
	LongAbove int
}

// Promotion is a rate for calls from From up to, but not including, Until.
type Promotion struct {
	Model       string
	From, Until time.Time
	Rate        Rate
}

// Config is combined with the bundled rates into a Table.
type Config struct {
	// Disabled turns pricing off: there is neither cost nor unpriced tokens.
	Disabled bool
	// Rates by model; they override the bundled ones.
	Rates map[string]Rate
	// Promotions override both; the first one in effect applies.
	Promotions []Promotion
	// Free are models that cost nothing if their rate is unknown.
	Free []string
}

// Table prices calls. It is immutable and safe for concurrent use.
type Table struct {
	disabled   bool
	rates      map[string]Rate
	promotions []Promotion
}

// New returns a table of the bundled rates, overridden by cfg.
func New(cfg Config) *Table {
	t := &Table{disabled: cfg.Disabled, rates: make(map[string]Rate), promotions: cfg.Promotions}
	for _, model := range cfg.Free {
		t.rates[model] = Rate{}
	}

	for _, b := range bundled() {
		t.rates[b.Model] = b.rate()
	}

	maps.Copy(t.rates, cfg.Rates)

	return t
}

// Price returns u with its cost. If the rate of the model is unknown, its tokens are counted as unpriced instead.
func (t *Table) Price(model string, at time.Time, u tarsy.Usage) tarsy.Usage {
	u.CostUSD, u.UnpricedTokens = 0, 0
	if t.disabled {
		return u
	}

	rate, ok := t.Rate(model, at)
	if !ok {
		u.UnpricedTokens = u.TotalTokens

		return u
	}

	u.CostUSD = rate.cost(u)

	return u
}

// Knows reports whether a model has a rate, even if only a promotional one.
func (t *Table) Knows(model string) bool {
	if _, ok := t.regular(model); ok {
		return true
	}

	return slices.ContainsFunc(t.promotions, func(p Promotion) bool { return isModel(model, p.Model) })
}

// Rate returns the rate of a model at a time, and whether it is known.
func (t *Table) Rate(model string, at time.Time) (Rate, bool) {
	for _, p := range t.promotions {
		if isModel(model, p.Model) && !at.Before(p.From) && at.Before(p.Until) {
			return p.Rate, true
		}
	}

	return t.regular(model)
}

// regular returns the rate of a model without promotions: its own, or else that of the model it is a snapshot of.
func (t *Table) regular(model string) (Rate, bool) {
	if rate, ok := t.rates[model]; ok {
		return rate, true
	}

	best := ""

	for name := range t.rates {
		if len(name) > len(best) && isModel(model, name) {
			best = name
		}
	}

	rate, ok := t.rates[best]

	return rate, ok && best != ""
}

func (r Rate) cost(u tarsy.Usage) float64 {
	if r.Long != nil && u.InputTokens > r.LongAbove {
		r = *r.Long
	}

	// Do not rely on providers to report consistent numbers.
	cached := min(max(u.CachedTokens, 0), max(u.InputTokens, 0))
	fresh := max(u.InputTokens, 0) - cached
	written := max(u.OutputTokens, 0) + max(u.ThinkingTokens, 0)

	return (float64(fresh)*r.Input + float64(cached)*r.CachedInput + float64(written)*r.Output) / million
}

// snapshot matches the suffix by which providers identify a version of a model: a date (-20250929, @20250929, -2025-08-07,
// -0709), a number (-001), latest or preview, or preview and a date.
var snapshot = regexp.MustCompile(`^[-@](?:latest|(?:preview-|exp-)?(?:\d{3,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4})|preview|exp)$`)

// isModel reports whether a model is the named one or a snapshot of it. Any other suffix means a different model with a
// different price: gpt-5-mini is not gpt-5, and claude-opus-4-1 is not claude-opus-4. The path before the last slash, as in
// models/gemini-2.5-pro, is ignored.
func isModel(model, name string) bool {
	if model == name {
		return true
	}

	model = model[strings.LastIndexByte(model, '/')+1:]
	rest, ok := strings.CutPrefix(model, name)

	return ok && (rest == "" || snapshot.MatchString(rest))
}
