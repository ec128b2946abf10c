package notify_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Wrap(m)) }

const lease, renewEvery = 30 * time.Second, 10 * time.Second

// takeResult is the database's response to one attempt to take the lease.
type takeResult struct {
	taken bool
	err   error
	after time.Duration // the clock advances by this during the attempt
}

var (
	held    = takeResult{taken: true}
	foreign = takeResult{}
	broken  = takeResult{err: errors.New("no database")}
)

// office is a holder on a fake clock in a synctest bubble. Each attempt to take the lease waits for the test to answer it.
type office struct {
	t      *testing.T
	clock  *clockwork.FakeClock
	holder *notify.Holder

	asked, left, began, ended chan struct{}
	answers                   chan takeResult
}

// inOffice runs a test whose holder has requested the lease. Time in the bubble does not advance, so nothing is triggered by
// real time.
func inOffice(t *testing.T, test func(o *office)) {
	t.Helper()

	synctest.Test(t, func(t *testing.T) {
		o := &office{
			t: t, clock: clockwork.NewFakeClock(), answers: make(chan takeResult), asked: make(chan struct{}, 1), left: make(chan struct{}, 1),
			began: make(chan struct{}, 1), ended: make(chan struct{}, 1),
		}
		o.holder = notify.NewHolder(notify.HolderConfig{
			Leases: o, Channel: tarsy.ChannelSlack, ServerID: "server-1", Lease: lease, RenewEvery: renewEvery, Work: o.work, Clock: o.clock,
			Logger: slog.New(slog.DiscardHandler),
		})

		began := time.Now()

		o.holder.Start()
		defer o.holder.Stop()

		test(o)
		require.Equal(t, began, time.Now(), "the holder does not use real time")
	})
}

func (o *office) work(ctx context.Context) {
	o.began <- struct{}{}

	<-ctx.Done()

	o.ended <- struct{}{}
}

func (o *office) TakeChannel(ctx context.Context, _ tarsy.AnnouncementChannel, _ string, _ time.Duration) (bool, error) {
	o.asked <- struct{}{}

	select {
	case answer := <-o.answers:
		o.clock.Advance(answer.after)

		return answer.taken, answer.err
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

func (o *office) LeaveChannel(context.Context, tarsy.AnnouncementChannel, string) error {
	o.left <- struct{}{}

	return nil
}

// requireNow checks that an event happened exactly once, requireNot that it did not happen.
func (o *office) requireNow(c <-chan struct{}, what string) {
	o.t.Helper()
	synctest.Wait()
	require.Len(o.t, c, 1, what)
	<-c
}

func (o *office) requireNot(c <-chan struct{}, what string) {
	o.t.Helper()
	synctest.Wait()
	require.Empty(o.t, c, what)
}

// answer responds to the attempt to take the lease.
func (o *office) answer(r takeResult) {
	o.t.Helper()
	o.requireNow(o.asked, "an attempt to take the lease")
	o.answers <- r
	synctest.Wait()
}

// advance moves the clock to the next attempt, and checks that there is none before.
func (o *office) advance() {
	o.t.Helper()
	o.clock.Advance(renewEvery - time.Millisecond)
	o.requireNot(o.asked, "an attempt before RenewEvery has passed")
	o.clock.Advance(time.Millisecond)
}

func TestHolderRenewsItsLeaseAtEachInterval(t *testing.T) {
	t.Parallel()

	inOffice(t, func(o *office) {
		o.answer(held)
		o.requireNow(o.began, "the work begins")

		for range 5 {
			o.advance()
			o.answer(held)
		}

		o.requireNot(o.began, "the work began twice")
		o.requireNot(o.ended, "the work ended")
		o.requireNot(o.left, "the lease was released")
		o.holder.Stop()
		o.requireNow(o.ended, "the work ends")
		o.requireNow(o.left, "the lease is released")
	})
}

func TestHolderWorksOnlyWhileNoOtherServerDoes(t *testing.T) {
	t.Parallel()

	inOffice(t, func(o *office) {
		o.answer(foreign)
		o.advance()
		o.answer(foreign)
		o.requireNot(o.began, "two servers work for the channel")
		o.advance()
		o.answer(held)
		o.requireNow(o.began, "the work begins")

		o.advance()
		o.answer(foreign)
		o.requireNow(o.ended, "the work ends")

		o.advance()
		o.answer(held)
		o.requireNow(o.began, "the work begins again")
	})
}

// A lease that cannot be renewed is still held for a while. The work ends before another server could take it, but no earlier.
func TestHolderStopsWorkBeforeLeaseItCannotRenewEnds(t *testing.T) {
	t.Parallel()

	inOffice(t, func(o *office) {
		o.answer(held)
		o.requireNow(o.began, "the work begins")

		o.advance()
		o.answer(held)
		o.advance() // 10 of 30 seconds
		o.answer(broken)
		o.requireNot(o.ended, "the lease can still be renewed")
		o.advance() // 20 of 30 seconds: the next attempt would be too late
		o.answer(broken)
		o.requireNow(o.ended, "the work ends")

		o.advance()
		o.answer(held)
		o.requireNow(o.began, "the work begins after the outage")
	})
}

// The lease starts when the database is asked, however long the response takes.
func TestHolderCountsLeaseFromBeginningOfSlowRenewal(t *testing.T) {
	t.Parallel()

	inOffice(t, func(o *office) {
		o.answer(takeResult{taken: true, after: 9 * time.Second})
		o.requireNow(o.began, "the work begins")

		o.clock.Advance(time.Second) // 10 of 30 seconds
		o.answer(broken)
		o.requireNot(o.ended, "the lease can still be renewed")
		o.advance()
		o.answer(broken)
		o.requireNow(o.ended, "the work ends")
	})
}
