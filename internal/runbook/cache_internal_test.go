package runbook

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
)

func TestCacheKeepsRecentlyUsedEntries(t *testing.T) {
	t.Parallel()
	c := newCache(clockwork.NewFakeClock(), time.Minute)

	for i := range cacheEntries {
		c.put(strconv.Itoa(i), result{text: "x"})
	}
	_, ok := c.get("0")
	require.True(t, ok)
	c.put("new", result{text: "x"})

	_, ok = c.get("0")
	require.True(t, ok, "was used after 1")
	_, ok = c.get("1")
	require.False(t, ok)
	require.Len(t, c.byKey, cacheEntries)
	require.Equal(t, cacheEntries, c.order.Len())
}

func TestCacheIsLimitedInBytes(t *testing.T) {
	t.Parallel()
	c := newCache(clockwork.NewFakeClock(), time.Minute)
	text := strings.Repeat("x", 1<<20)

	for i := range 40 {
		c.put(strconv.Itoa(i), result{text: text})
		c.put(strconv.Itoa(i), result{text: text}) // again, which must not be counted twice
		require.LessOrEqual(t, c.bytes, cacheBytes)
	}
	require.Len(t, c.byKey, 15, "the keys count too")

	c.put("huge", result{text: strings.Repeat("x", cacheBytes)})
	require.Len(t, c.byKey, 15, "what is larger than all of it drives nothing out")
}

func TestRemovedCacheEntryIsNotCounted(t *testing.T) {
	t.Parallel()
	clock := clockwork.NewFakeClock()
	c := newCache(clock, 2*time.Second)

	c.put("text", result{text: "x"})
	c.put("failure", result{err: errors.New("no")})
	clock.Advance(2 * time.Second) // shorter than the usual TTL of failures

	_, ok := c.get("text")
	require.False(t, ok)
	_, ok = c.get("failure")
	require.False(t, ok)
	require.Zero(t, c.bytes)
	require.Empty(t, c.byKey)
}
