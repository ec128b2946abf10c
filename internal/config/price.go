package config

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/price"
)

// Prices returns the price table of this configuration. A model played by a scripted provider is free, unless its name has a known rate.
func (c *Config) Prices() *price.Table {
	estimation := c.System.CostEstimation
	cfg := price.Config{Disabled: !estimation.Enabled, Rates: make(map[string]price.Rate, len(estimation.ModelRates))}
	for model, rate := range estimation.ModelRates {
		cached := rate.InputPerMillion
		if rate.CachedInputPerMillion != nil {
			cached = *rate.CachedInputPerMillion
		}
		cfg.Rates[model] = price.Rate{Input: rate.InputPerMillion, CachedInput: cached, Output: rate.OutputPerMillion}
	}
	for _, p := range estimation.Promotions {
		from, _, _ := parseMoment(p.Start) // checked at load
		_, until, _ := parseMoment(p.End)
		cfg.Promotions = append(cfg.Promotions, price.Promotion{
			Model: p.Model, From: from, Until: until,
			Rate: price.Rate{Input: p.InputPerMillion, CachedInput: p.InputPerMillion, Output: p.OutputPerMillion},
		})
	}
	for _, p := range c.LLMProviders {
		if p.Type == ProviderScripted {
			cfg.Free = append(cfg.Free, p.Model)
		}
	}
	return price.New(cfg)
}

// parseMoment parses a day or a time and returns its first instant and the first one after it.
func parseMoment(text string) (time.Time, time.Time, bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day, day.AddDate(0, 0, 1), true
	}
	moment, err := time.Parse(time.RFC3339, text)
	return moment, moment.Add(1), err == nil
}

// checkPrices finds incomplete rates and promotions that never apply.
func (c *Config) checkPrices() []Problem {
	const path = "system.cost_estimation"
	var problems []Problem
	written := func(at string) {
		for _, key := range []string{"input_per_million", "output_per_million"} {
			// Check the marks, because 0 is a valid rate but a missing one is not.
			if _, set := c.marks[joinPath(at, key)]; !set {
				problems = append(problems, c.problem(joinPath(at, key), "is required", "USD for a million tokens, 0 if they cost nothing"))
			}
		}
	}
	for _, model := range slices.Sorted(maps.Keys(c.System.CostEstimation.ModelRates)) {
		written(joinPath(path+".model_rates", model))
	}
	for i, p := range c.System.CostEstimation.Promotions {
		at := fmt.Sprintf("%s.promotions[%d]", path, i)
		written(at)
		from, _, okFrom := parseMoment(p.Start)
		_, until, okUntil := parseMoment(p.End)
		const hint = "write 2026-01-31, or 2026-01-31T12:00:00Z"
		switch {
		case !okFrom && p.Start != "":
			problems = append(problems, c.problem(at+".start", "not a day or a moment", hint))
		case !okUntil && p.End != "":
			problems = append(problems, c.problem(at+".end", "not a day or a moment", hint))
		case okFrom && okUntil && !from.Before(until):
			problems = append(problems, c.problem(at+".end", "is before start", ""))
		}
	}
	return problems
}

// BudgetWarnings lists cost caps that cannot be enforced because the prices of a provider in use are unknown.
func (c *Config) BudgetWarnings(used []string) []Warning {
	var warnings []Warning
	for _, b := range []struct {
		path string
		cap  float64
	}{
		{"system.budgets.session.max_cost_usd", c.System.Budgets.Session.MaxCostUSD},
		{"system.budgets.daily.max_cost_usd", c.System.Budgets.Daily.MaxCostUSD},
	} {
		// No one relies on a limit that is not in the files.
		if _, written := c.marks[b.path]; b.cap == 0 || !written {
			continue
		}
		at := c.placeOf(b.path)
		warn := func(message string) {
			warnings = append(warnings, Warning{File: at.File, Line: at.Line, Column: at.Column, Path: b.path, Message: message})
		}
		if !c.System.CostEstimation.Enabled {
			warn("has no effect: system.cost_estimation is off")
			continue
		}
		for _, provider := range c.unpriced(used) {
			warn(fmt.Sprintf("does not cover %s: the price of its model %s is unknown; add it to system.cost_estimation.model_rates",
				provider.Name, provider.Model))
		}
	}
	return warnings
}

// unpriced lists the providers whose model has no known price.
func (c *Config) unpriced(names []string) []LLMProvider {
	prices := c.Prices()
	var unknown []LLMProvider
	for _, name := range names {
		if p := c.LLMProviders[name]; !prices.Knows(p.Model) {
			unknown = append(unknown, p)
		}
	}
	return unknown
}
