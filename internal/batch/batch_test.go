package batch_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy/internal/batch"
)

type item struct {
	key    string
	number int
	weight int
}

// ledger checks each group as it is handled, and records what was handled.
type ledger struct {
	maxItems, maxWeight int

	mu       sync.Mutex
	inFlight map[string]bool
	handled  map[string][]int
	problems []string
}

func (l *ledger) handle(group []*item) {
	l.enter(group)
	runtime.Gosched()
	l.leave(group)
}

func (l *ledger) enter(group []*item) {
	l.mu.Lock()
	defer l.mu.Unlock()

	weight, mine := 0, map[string]bool{}

	for _, i := range group {
		weight += i.weight

		if l.inFlight[i.key] && !mine[i.key] {
			l.problems = append(l.problems, "two groups with the key "+i.key)
		}

		mine[i.key], l.inFlight[i.key] = true, true
	}

	if len(group) == 0 || len(group) > l.maxItems || len(group) > 1 && weight > l.maxWeight {
		l.problems = append(l.problems, fmt.Sprintf("a group of %d items weighs %d", len(group), weight))
	}
}

func (l *ledger) leave(group []*item) {
	l.mu.Lock()
	defer l.mu.Unlock()

	for _, i := range group {
		delete(l.inFlight, i.key)
		l.handled[i.key] = append(l.handled[i.key], i.number)
	}
}

// Several callers, each with its own keys, add and withdraw items. Whenever Stop is called, each item that was accepted and not
// withdrawn is handled once, in order.
func TestItemsAreNotLostDuplicatedOrReorderedPerKey(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		l := &ledger{
			maxItems: rapid.IntRange(1, 8).Draw(t, "max items"), maxWeight: rapid.IntRange(1, 10).Draw(t, "max weight"),
			inFlight: map[string]bool{}, handled: map[string][]int{},
		}
		b := batch.New(batch.Config[*item]{
			Workers: rapid.IntRange(1, 4).Draw(t, "workers"), MaxItems: l.maxItems, MaxWeight: l.maxWeight,
			Weight: func(i *item) int { return i.weight }, Key: func(i *item) string { return i.key }, Handle: l.handle,
		})

		var (
			callers, stopping sync.WaitGroup
			mu                sync.Mutex
			want              = map[string][]int{}
		)

		b.Start()

		for caller := range rapid.IntRange(1, 4).Draw(t, "callers") {
			items := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) *item {
				return &item{
					key:    fmt.Sprintf("%d-%d", caller, rapid.IntRange(0, 2).Draw(t, "key")),
					weight: rapid.IntRange(0, 12).Draw(t, "weight"),
				}
			}), 0, 40).Draw(t, "items")
			withdrawn := rapid.SliceOfN(rapid.Bool(), len(items), len(items)).Draw(t, "withdrawn")

			callers.Go(func() {
				for n, i := range items {
					i.number = n
					if b.Add(i) && (!withdrawn[n] || !b.Withdraw(i)) {
						mu.Lock()
						want[i.key] = append(want[i.key], n)
						mu.Unlock()
					}
				}
			})
		}

		// Stop at any time, or after everything.
		if rapid.Bool().Draw(t, "stop early") {
			stopping.Go(b.Stop)
		}

		callers.Wait()
		stopping.Wait()
		b.Stop()

		require.Empty(t, l.problems)
		require.Equal(t, want, l.handled)
		require.False(t, b.Add(&item{}), "nothing is accepted after Stop")
	})
}

func TestStopHandlesQueuedItemsThenRefuses(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})

		var handled []int

		b := batch.New(batch.Config[int]{Workers: 1, MaxItems: 2, Handle: func(group []int) {
			<-gate
			handled = append(handled, group...)
		}})
		b.Start()

		for i := range 5 {
			require.True(t, b.Add(i))
		}

		stopped := make(chan struct{})

		go func() {
			b.Stop()
			close(stopped)
		}()

		synctest.Wait()
		require.False(t, b.Add(5), "refused while stopping")

		select {
		case <-stopped:
			require.Fail(t, "Stop did not wait")
		default:
		}

		close(gate)
		<-stopped
		require.Equal(t, []int{0, 1, 2, 3, 4}, handled)
		b.Stop()
	})
}

func TestItemsWithoutKeyShareWorkers(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var (
			mu     sync.Mutex
			groups [][]int
			gate   = make(chan struct{})
		)

		b := batch.New(batch.Config[int]{Workers: 2, MaxItems: 3, Handle: func(group []int) {
			mu.Lock()
			groups = append(groups, slices.Clone(group))
			mu.Unlock()
			<-gate
		}})

		for i := range 7 {
			require.True(t, b.Add(i))
		}

		b.Start()
		synctest.Wait()
		require.ElementsMatch(t, [][]int{{0, 1, 2}, {3, 4, 5}}, groups, "both workers are busy, the rest waits")
		require.True(t, b.Withdraw(6))
		require.False(t, b.Withdraw(6), "withdrawn already")
		require.False(t, b.Withdraw(0), "in flight")

		close(gate)
		b.Stop()
		require.Len(t, groups, 2)
	})
}

func TestHeavyItemsAreSpreadOverGroups(t *testing.T) {
	t.Parallel()

	var groups [][]int

	b := batch.New(batch.Config[int]{
		Workers: 1, MaxItems: 10, MaxWeight: 5, Weight: func(i int) int { return i },
		Handle: func(group []int) { groups = append(groups, slices.Clone(group)) },
	})
	for _, i := range []int{2, 3, 1, 9, 4} {
		require.True(t, b.Add(i))
	}

	b.Start()
	b.Stop()
	require.Equal(t, [][]int{{2, 3}, {1}, {9}, {4}}, groups)
}
