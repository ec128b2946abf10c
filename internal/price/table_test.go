package price

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEveryBundledPriceIsCompleteAndDated(t *testing.T) {
	t.Parallel()

	seen := make(map[string]bool)

	for _, e := range bundled() {
		require.NotEmpty(t, e.Model)
		require.False(t, seen[e.Model], "%s stands there twice", e.Model)
		seen[e.Model] = true

		require.Positive(t, e.Input, e.Model)
		require.Positive(t, e.CachedInput, e.Model)
		require.Positive(t, e.Output, e.Model)
		require.LessOrEqual(t, e.CachedInput, e.Input, e.Model)
		require.LessOrEqual(t, e.Input, e.Output, e.Model)

		taken, err := time.Parse(time.DateOnly, e.Taken)
		require.NoError(t, err, e.Model)
		require.Greater(t, taken.Year(), 2024, e.Model)

		if e.Long != nil {
			require.Positive(t, e.Long.AboveInputTokens, e.Model)
			require.Greater(t, e.Long.Input, e.Input, e.Model)
			require.Greater(t, e.Long.Output, e.Output, e.Model)
		}
	}

	for _, model := range []string{"gemini-2.5-pro", "gpt-5-mini", "claude-sonnet-4-6", "grok-4"} {
		require.True(t, seen[model], model)
	}
}
