package price_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/price"
)

func now() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }

func TestCallCostIsTokensTimesRates(t *testing.T) {
	t.Parallel()

	table := price.New(price.Config{Rates: map[string]price.Rate{
		"m": {Input: 2, CachedInput: 0.5, Output: 10},
		"long": {
			Input: 2, CachedInput: 0.5, Output: 10,
			LongAbove: 200_000, Long: &price.Rate{Input: 4, CachedInput: 1, Output: 15},
		},
	}})
	tests := []struct {
		name, model string
		usage       tarsy.Usage
		want        float64
	}{
		{"nothing", "m", tarsy.Usage{}, 0},
		{"input", "m", tarsy.Usage{InputTokens: 1_000_000}, 2},
		{"input that was cached is part of the input", "m", tarsy.Usage{InputTokens: 1_000_000, CachedTokens: 400_000}, 0.6*2 + 0.4*0.5},
		{"output", "m", tarsy.Usage{OutputTokens: 100_000}, 1},
		{"thinking costs as output", "m", tarsy.Usage{OutputTokens: 100_000, ThinkingTokens: 50_000}, 1.5},
		{"up to the limit", "long", tarsy.Usage{InputTokens: 200_000}, 0.4},
		{"a long call costs more as a whole", "long", tarsy.Usage{InputTokens: 200_001, CachedTokens: 1, OutputTokens: 100_000}, 0.8 + 0.000001 + 1.5},
		{"more cached than there was", "m", tarsy.Usage{InputTokens: 10, CachedTokens: 1_000_000}, 0.000005},
		{"counts below nothing", "m", tarsy.Usage{InputTokens: -5, OutputTokens: -5, CachedTokens: -5, ThinkingTokens: -1}, 0},
	}

	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()

			got := table.Price(tt.model, now(), tt.usage)
			require.InDelta(t, tt.want, got.CostUSD, 1e-12)
			require.Zero(t, got.UnpricedTokens)

			got.CostUSD = 0
			require.Equal(t, tt.usage, got, "the counts stay as they are")
		})
	}
}

func TestUnknownModelTokensAreCountedAsUnpriced(t *testing.T) {
	t.Parallel()

	table := price.New(price.Config{})
	for _, model := range []string{"", "nobody-knows", "gpt", "gpt-5-mega", "-2025-08-07", "gemini-2.5-pro-tuned", "models/"} {
		got := table.Price(model, now(), tarsy.Usage{InputTokens: 5, OutputTokens: 6, TotalTokens: 11, CostUSD: 99})
		require.Zero(t, got.CostUSD, model)
		require.Equal(t, 11, got.UnpricedTokens, model)
		require.False(t, table.Knows(model), model)
	}
}

func TestDatedSnapshotCostsLikeItsModel(t *testing.T) {
	t.Parallel()

	table := price.New(price.Config{})
	for model, of := range map[string]string{
		"gpt-5-2025-08-07":                            "gpt-5",
		"gpt-5-mini-2025-08-07":                       "gpt-5-mini",
		"gpt-4.1-2025-04-14":                          "gpt-4.1",
		"gpt-4.1-nano-2025-04-14":                     "gpt-4.1-nano",
		"claude-sonnet-4-5-20250929":                  "claude-sonnet-4-5",
		"claude-sonnet-4-5@20250929":                  "claude-sonnet-4-5",
		"claude-opus-4-20250514":                      "claude-opus-4",
		"claude-opus-4-1-20250805":                    "claude-opus-4-1",
		"claude-3-7-sonnet-latest":                    "claude-3-7-sonnet",
		"gemini-2.5-pro-preview-06-05":                "gemini-2.5-pro",
		"gemini-2.5-flash-lite-preview":               "gemini-2.5-flash-lite",
		"gemini-2.0-flash-001":                        "gemini-2.0-flash",
		"gemini-2.5-flash-preview-09-2025":            "gemini-2.5-flash",
		"gemini-3.1-pro-preview":                      "gemini-3.1-pro",
		"models/gemini-2.5-pro":                       "gemini-2.5-pro",
		"publishers/google/models/gemini-2.5-pro-002": "gemini-2.5-pro",
		"grok-4-0709":                                 "grok-4",
	} {
		want, ok := table.Rate(of, now())
		require.True(t, ok, of)

		got, ok := table.Rate(model, now())
		require.True(t, ok, model)
		require.Equal(t, want, got, model)
	}

	five, _ := table.Rate("gpt-5", now())
	mini, _ := table.Rate("gpt-5-mini-2025-08-07", now())
	require.NotEqual(t, five, mini)

	four, _ := table.Rate("claude-opus-4-20250514", now())
	fourFive, _ := table.Rate("claude-opus-4-5-20251101", now())
	require.NotEqual(t, four, fourFive, "a digit behind the name is another model")
}

func TestPricePrecedence(t *testing.T) {
	t.Parallel()

	year := func(y int) time.Time { return time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC) }
	table := price.New(price.Config{
		Free:  []string{"script", "gpt-5", "both"},
		Rates: map[string]price.Rate{"both": {Input: 1}, "gpt-5-2025-08-07": {Input: 3}},
		Promotions: []price.Promotion{
			{Model: "both", From: year(2026), Until: year(2027), Rate: price.Rate{Input: 0.25}},
			{Model: "both", From: year(2020), Until: year(2030), Rate: price.Rate{Input: 0.5}},
			{Model: "later", From: year(2028), Until: year(2029), Rate: price.Rate{Input: 0.75}},
		},
	})
	rate := func(model string, at time.Time) float64 {
		r, ok := table.Rate(model, at)
		if !ok {
			return math.NaN()
		}

		return r.Input
	}
	require.Zero(t, rate("script", now()), "free where nothing is known")
	require.InDelta(t, 1.25, rate("gpt-5", now()), 0, "the table over free")
	require.InDelta(t, 3, rate("gpt-5-2025-08-07", now()), 0, "the exact name over the model")
	require.InDelta(t, 0.25, rate("both", now()), 0, "a promotion over rates, the first over others")
	require.InDelta(t, 0.5, rate("both", year(2027)), 0)
	require.InDelta(t, 1, rate("both", year(2030)), 0)
	require.True(t, math.IsNaN(rate("later", now())))
	require.True(t, table.Knows("later"))
}

func TestDisabledTablePricesNothing(t *testing.T) {
	t.Parallel()

	got := price.New(price.Config{Disabled: true}).Price("gpt-5", now(), tarsy.Usage{InputTokens: 5, TotalTokens: 5, CostUSD: 1, UnpricedTokens: 1})
	require.Equal(t, tarsy.Usage{InputTokens: 5, TotalTokens: 5}, got)
}
