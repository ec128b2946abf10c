package config_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func cost(t *testing.T, text, model string, at time.Time) tarsy.Usage {
	t.Helper()
	return mustLoad(t, text, nil).Prices().Price(model, at, tarsy.Usage{
		InputTokens: 2_000_000, CachedTokens: 1_000_000, OutputTokens: 1_000_000, TotalTokens: 3_000_000,
	})
}

func TestConfiguredPricesOverrideBundledOnes(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 15, 12, 0, 0, 0, time.UTC)
	const rates = "system: {cost_estimation: {model_rates: {gpt-5: {input_per_million: 7, output_per_million: 11}, " +
		"ours: {input_per_million: 1, output_per_million: 2, cached_input_per_million: 0}}}}\n"
	require.InDelta(t, 1.25+0.125+10, cost(t, "", "gpt-5", now).CostUSD, 1e-9)
	require.InDelta(t, 7+7+11, cost(t, rates, "gpt-5", now).CostUSD, 1e-9, "cached input costs as other input where nobody says otherwise")
	require.InDelta(t, 1+0+2, cost(t, rates, "ours", now).CostUSD, 1e-9)
	require.Equal(t, 3_000_000, cost(t, rates, "theirs", now).UnpricedTokens)
}

func TestPromotionAppliesFromFirstToLastDay(t *testing.T) {
	t.Parallel()
	const promotion = "system: {cost_estimation: {promotions: [{model: gpt-5, input_per_million: 0, output_per_million: 1, "
	days := promotion + "start: 2026-03-01, end: 2026-03-31}]}}\n"
	moments := promotion + "start: '2026-03-01T06:00:00Z', end: '2026-03-01T18:00:00+02:00'}]}}\n"
	tests := []struct {
		text, at string
		holds    bool
	}{
		{days, "2026-02-28T23:59:59Z", false},
		{days, "2026-03-01T00:00:00Z", true},
		{days, "2026-03-31T23:59:59.999Z", true},
		{days, "2026-04-01T00:00:00Z", false},
		{days, "2026-04-01T01:00:00+02:00", true},
		{moments, "2026-03-01T05:59:59Z", false},
		{moments, "2026-03-01T06:00:00Z", true},
		{moments, "2026-03-01T16:00:00Z", true},
		{moments, "2026-03-01T16:00:01Z", false},
	}
	for _, tt := range tests {
		at, err := time.Parse(time.RFC3339Nano, tt.at)
		require.NoError(t, err)
		require.Equal(t, tt.holds, cost(t, tt.text, "gpt-5", at).CostUSD == 1, "%s at %s", tt.text, tt.at)
	}
}

func TestNothingIsPricedWhenCostEstimationIsOff(t *testing.T) {
	t.Parallel()
	got := cost(t, "system: {cost_estimation: {enabled: false}}", "gpt-5", time.Now())
	require.Zero(t, got.CostUSD)
	require.Zero(t, got.UnpricedTokens)
}

func TestScriptedModelIsFreeUnlessPriced(t *testing.T) {
	t.Parallel()
	const told = "llm_providers: {told: {type: scripted, model: demo-script}}\n"
	got := cost(t, told, "demo-script", time.Now())
	require.Zero(t, got.CostUSD)
	require.Zero(t, got.UnpricedTokens)
	const rate = "system: {cost_estimation: {model_rates: {demo-script: {input_per_million: 1, output_per_million: 1}}}}\n"
	require.InDelta(t, 3, cost(t, told+rate, "demo-script", time.Now()).CostUSD, 1e-9)
	const named = "llm_providers: {told: {type: scripted, model: gpt-5}}\n"
	require.Positive(t, cost(t, named, "gpt-5", time.Now()).CostUSD, "a real model does not become free because a script plays it")
}
