package limit_test

import (
	"bytes"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/limit"
)

func TestRateAllowsBurstThenOneAttemptAtATime(t *testing.T) {
	t.Parallel()

	now, rate := time.Now(), limit.NewRate(30)

	for range 30 {
		_, ok := rate.Allow("ada", now)
		require.True(t, ok)
	}

	wait, ok := rate.Allow("ada", now)
	require.False(t, ok)
	require.InDelta(t, 2*time.Second, wait, float64(time.Millisecond))

	_, ok = rate.Allow("bob", now)
	require.True(t, ok, "another name has its own attempts")

	_, ok = rate.Allow("ada", now.Add(wait-time.Millisecond))
	require.False(t, ok)

	_, ok = rate.Allow("ada", now.Add(wait))
	require.True(t, ok)
}

func TestRateSavesUpNoMoreThanOneBurst(t *testing.T) {
	t.Parallel()

	now, rate := time.Now(), limit.NewRate(30)

	allowed := func(at time.Time) (count int) {
		for range 100 {
			if _, ok := rate.Allow("ada", at); ok {
				count++
			}
		}

		return count
	}

	require.Equal(t, 30, allowed(now))
	require.Equal(t, 30, allowed(now.Add(time.Hour)), "however long it was not used")

	wait, ok := rate.Allow("ada", now)
	require.False(t, ok, "a clock that goes back gives nothing")
	require.InDelta(t, 2*time.Second, wait, float64(time.Millisecond), "and takes nothing")
	require.Equal(t, 1, allowed(now.Add(time.Hour+2*time.Second)))
}

func TestRateRemembersLimitedNumberOfNames(t *testing.T) {
	t.Parallel()

	now, rate := time.Now(), limit.NewRate(1)

	for i := range 10_000 {
		_, ok := rate.Allow(strconv.Itoa(i), now)
		require.True(t, ok)
	}

	_, ok := rate.Allow("one more", now)
	require.True(t, ok)

	_, ok = rate.Allow("and another", now)
	require.False(t, ok, "names beyond the bound share their attempts")

	_, ok = rate.Allow("and another", now.Add(time.Minute))
	require.True(t, ok, "names with all their attempts are forgotten")
}

func TestNetworkIsIPv4AddressOrIPv6Subscriber(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64", "fe80::1%eth0": "fe80::/64",
	} {
		require.Equal(t, want, limit.Network(netip.MustParseAddr(address)))
	}
}

func TestCountLimitsOneOwnerAndTotal(t *testing.T) {
	t.Parallel()

	count := limit.NewCount(2, 3)

	require.Equal(t, limit.None, count.Acquire("ada", 1))
	require.Equal(t, limit.None, count.Acquire("ada", 1))
	require.Equal(t, limit.PerOwner, count.Acquire("ada", 1))
	require.Equal(t, limit.None, count.Acquire("bob", 1))
	require.Equal(t, limit.Total, count.Acquire("bob", 1))

	count.Release("ada", 2)
	require.Equal(t, limit.None, count.Acquire("", 1))
	require.Equal(t, limit.None, count.Acquire("", 1))
	require.Equal(t, limit.Total, count.Acquire("", 1), "nobody in particular is bounded by the total only")

	count.Release("", 2)
	require.Equal(t, limit.Total, count.Acquire("ada", 3))
	require.Equal(t, limit.None, count.Acquire("ada", 2), "what was refused is not counted")
	require.Equal(t, 3, count.Held())
}

func TestEmptyOwnerIsLimitedByTotalOnly(t *testing.T) {
	t.Parallel()

	count := limit.NewCount(2, 5)

	for range 5 {
		require.Equal(t, limit.None, count.Acquire("", 1))
	}

	require.Equal(t, limit.Total, count.Acquire("", 1))
}

func TestNoticeLogsRefusalImmediatelyThenPeriodically(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	clock := clockwork.NewFakeClock()
	notice := limit.NewNotice(slog.New(slog.NewTextHandler(&log, nil)), clock)

	for range 100 {
		notice.Refused(t.Context(), "too much", "who", "ada")
	}

	require.Equal(t, 1, strings.Count(log.String(), "too much"))
	clock.Advance(10 * time.Second)
	notice.Refused(t.Context(), "too much", "who", "ada")
	require.Contains(t, log.String(), "who=ada refused_total=101")
}
