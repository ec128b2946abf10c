package exchange_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}

	return sum
}

func TestVectorHasUnitLengthAndDependsOnlyOnText(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", "disk full", "日本"} {
		for _, dimensions := range []int{1, 3, 768, 3072} {
			vector := exchange.Vector(text, dimensions)
			require.Len(t, vector, dimensions)
			require.InDelta(t, 1, dot(vector, vector), 1e-5)
			require.Equal(t, vector, exchange.Vector(text, dimensions))
		}
	}

	require.InDelta(t, 0, dot(exchange.Vector("disk full", 1536), exchange.Vector("disk fuln", 1536)), 0.15)
	// The exact values: what a test stored once must be found again by another release.
	require.Equal(t, []float32{-0.29897776, -0.9416837, 0.15441526}, exchange.Vector("disk full", 3))
}

func TestShorterVectorIsPrefixOfLonger(t *testing.T) {
	t.Parallel()

	short, long := exchange.Vector("disk full", 256), exchange.Vector("disk full", 1024)
	length := math.Sqrt(dot(long[:256], long[:256]))

	for i, value := range short {
		require.InDelta(t, float64(long[i])/length, value, 1e-6)
	}
}
