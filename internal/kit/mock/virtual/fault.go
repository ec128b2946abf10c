package virtual

import (
	"slices"
	"sync"
)

// Faults make the next requests fail. The zero value has no faults.
type Faults[F any] struct {
	mu      sync.Mutex
	pending []Pending[F]
}

// Pending is a fault, and the number of requests that it will still affect.
type Pending[F any] struct {
	Fault F
	Times int
}

// Add adds a fault for a number of requests, at least one.
func (f *Faults[F]) Add(fault F, times int) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.pending = append(f.pending, Pending[F]{fault, max(times, 1)})
}

// Take returns the fault for a request, or nil if there is none.
func (f *Faults[F]) Take(meets func(fault F) bool) *F {
	f.mu.Lock()
	defer f.mu.Unlock()

	i := slices.IndexFunc(f.pending, func(p Pending[F]) bool { return meets(p.Fault) })
	if i < 0 {
		return nil
	}

	fault := f.pending[i].Fault
	if f.pending[i].Times--; f.pending[i].Times == 0 {
		f.pending = slices.Delete(f.pending, i, i+1)
	}

	return &fault
}

// Pending returns the faults that are not used up.
func (f *Faults[F]) Pending() []Pending[F] {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.Clone(f.pending)
}
