package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestCostIsPrintedAsFarAsKnown(t *testing.T) {
	t.Parallel()

	for want, usage := range map[string]tarsy.Usage{
		"":         {},
		"$0.0000":  {TotalTokens: 10},
		"$0.0123":  {TotalTokens: 10, CostUSD: 0.01234},
		"$99.9900": {TotalTokens: 10, CostUSD: 99.99},
		"$1234.57": {TotalTokens: 10, CostUSD: 1234.567},
		"—":        {TotalTokens: 10, UnpricedTokens: 10},
		"$0.5000+": {TotalTokens: 10, UnpricedTokens: 4, CostUSD: 0.5},
	} {
		require.Equal(t, want, cost(usage))
	}

	require.Equal(t, "$0.5000, 10 tokens, 3 tool calls", used(tarsy.Spend{Usage: tarsy.Usage{TotalTokens: 10, CostUSD: 0.5}, ToolCalls: 3}))
	require.Empty(t, used(tarsy.Spend{}))
}
