package wait_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/testfailure"
	"tarsy.dev/tarsy/internal/kit/wait"
)

func TestUntilLooksAtOnceAndAgain(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		begin, looks := time.Now(), 0

		wait.Until(t, "the first look", func() bool { return true })
		require.Zero(t, time.Since(begin))

		wait.Until(t, "the fourth look", func() bool { looks++; return looks == 4 })
		require.Equal(t, 15*time.Millisecond, time.Since(begin))
	})
}

func TestWaitsEndAtTheirLimitAndSayForWhat(t *testing.T) {
	t.Parallel()

	complaint := testfailure.Of(t, func(t testing.TB) {
		wait.UntilWithin(t, 20*time.Millisecond, "a miracle", func() bool { return false })
		t.Errorf("the wait did not fail")
	})
	require.Contains(t, complaint, "timed out waiting for a miracle")
	require.Contains(t, complaint, "the limit is 20ms")
	require.NotContains(t, complaint, "did not fail")

	complaint = testfailure.Of(t, func(t testing.TB) {
		wait.ForWithin(t, 20*time.Millisecond, make(chan int), "a number")
		t.Errorf("the wait did not fail")
	})
	require.Contains(t, complaint, "timed out waiting for a number")
	require.NotContains(t, complaint, "did not fail")
}

func TestForReturnsWhatTheChannelDelivers(t *testing.T) {
	t.Parallel()

	c := make(chan int, 1)
	c <- 7
	require.Equal(t, 7, wait.For(t, c, "a number"))

	close(c)
	require.Zero(t, wait.For(t, c, "the end"))
}

func TestContextEndsAfterTheLimitWithItsCause(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		begin, ctx := time.Now(), wait.Context(t)

		<-ctx.Done()
		require.GreaterOrEqual(t, time.Since(begin), time.Minute)
		require.LessOrEqual(t, time.Since(begin), 20*time.Minute)
	})
}
