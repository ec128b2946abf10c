package nearest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/nearest"
)

func TestHintSuggestsNearestOrListsAll(t *testing.T) {
	t.Parallel()

	known := []string{"worker_count", "session_timeout", "custom_instructions"}

	require.Equal(t, "did you mean worker_count?", nearest.Hint("worker_cuont", known, "keys"))
	require.Equal(t, "did you mean custom_instructions?", nearest.Hint("instructions", known, "keys"))
	require.Equal(t, "known keys: worker_count, session_timeout, custom_instructions", nearest.Hint("wxy", known, "keys"))
	require.Equal(t, "there are no keys", nearest.Hint("wxy", nil, "keys"))
	require.Contains(t, nearest.HintWithList("worker_cuont", known, "keys"), "session_timeout")
}

func TestDistanceCountsEditsAndSwaps(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"abc", "acb", 1}, {"abc", "abd", 1}, {"kitten", "sitting", 3}, {"ä", "a", 1}} {
		require.Equal(t, c.want, nearest.Distance(c.a, c.b), "%q %q", c.a, c.b)
	}
}
