// Package price tells what LLM calls cost: tokens times the rate of the model. Rates come from a table that is bundled
// with the program and from whoever configures it, whose word counts more. It knows no provider, no configuration file
// and no network; prices are only as fresh as the table.
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

// Rate is what a million tokens of a model cost, in USD. Thinking is output.
type Rate struct {
	Input       float64
	CachedInput float64
	Output      float64
	// Long, where it is not nil, holds for calls whose input is longer than LongAbove tokens: all of the call, not only
	// what is above.
	Long      *Rate
	LongAbove int
}

// Promotion is a rate that holds for calls from From up to, and not including, Until.
type Promotion struct {
	Model       string
	From, Until time.Time
	Rate        Rate
}

// Config is what a Table is made of besides the bundled rates.
type Config struct {
	// Disabled prices nothing: neither cost nor unpriced tokens.
	Disabled bool
	// Rates by model; they beat the bundled ones.
	Rates map[string]Rate
	// Promotions beat both; of those that hold at once the first counts.
	Promotions []Promotion
	// Free are models that cost nothing if no rate is known for them.
	Free []string
}

// Table prices calls. It never changes, so it may be used by many at once.
type Table struct {
	disabled   bool
	rates      map[string]Rate
	promotions []Promotion
}

// New returns a table of the bundled rates with cfg laid over them.
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

// Price returns u with its cost. Tokens of a model whose rate is not known are counted as unpriced instead.
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

// Knows reports whether a model has a rate, be it for a time.
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

// regular is the rate that holds without promotions: that of the model itself, else of what it is a snapshot of.
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

	// What providers report is not to be trusted to add up.
	cached := min(max(u.CachedTokens, 0), max(u.InputTokens, 0))
	fresh := max(u.InputTokens, 0) - cached
	written := max(u.OutputTokens, 0) + max(u.ThinkingTokens, 0)

	return (float64(fresh)*r.Input + float64(cached)*r.CachedInput + float64(written)*r.Output) / million
}

// snapshot is what providers put behind a model's name to say which version of it is meant: a date (-20250929, @20250929,
// -2025-08-07, -0709), a number (-001), latest or preview, or preview and a date.
var snapshot = regexp.MustCompile(`^[-@](?:latest|(?:preview-|exp-)?(?:\d{3,8}|\d{4}-\d\d-\d\d|\d\d-\d{2,4})|preview|exp)$`)

// isModel reports whether a model is the named one or a snapshot of it. Other words behind a name are other models, which
// cost something else: gpt-5-mini is not gpt-5, and claude-opus-4-1 is not claude-opus-4. What stands before the last
// slash, as in models/gemini-2.5-pro, is where a provider keeps the model.
func isModel(model, name string) bool {
	if model == name {
		return true
	}

	model = model[strings.LastIndexByte(model, '/')+1:]
	rest, ok := strings.CutPrefix(model, name)

	return ok && (rest == "" || snapshot.MatchString(rest))
}
