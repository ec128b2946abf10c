package exchange_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/exchange"
)

func TestStoreSeparatesLanesAndClearsOne(t *testing.T) {
	t.Parallel()

	var store exchange.Store

	store.Put("a", "1", "of a", 1)
	store.Put("b", "1", "of b", 1)
	store.Put("b", "1", "of b, again", 1)
	require.Equal(t, "of a", store.Get("a", "1"))
	require.Equal(t, "of b, again", store.Get("b", "1"))
	require.Nil(t, store.Get("a", "2"))

	lane := "a"
	store.Clear(&lane)
	require.Nil(t, store.Get("a", "1"))
	require.NotNil(t, store.Get("b", "1"))

	store.Clear(nil)
	require.Nil(t, store.Get("b", "1"))
}

func TestFullStoreDropsOldest(t *testing.T) {
	t.Parallel()

	const half = 33 << 20

	var store exchange.Store

	for _, id := range []string{"1", "2", "1", "3"} {
		store.Put("", id, id, half)
	}

	require.Nil(t, store.Get("", "1"))
	require.Nil(t, store.Get("", "2"))
	require.Equal(t, "3", store.Get("", "3"))
}
