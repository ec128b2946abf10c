package exchange

import (
	"container/list"
	"sync"
)

// maxStored limits the size of a Store, in bytes as its users count them.
const maxStored = 64 << 20

// Store is what an API keeps between the exchanges of a lane, by ID. When it is full, the oldest values are dropped. It is
// safe for concurrent use; the zero Store is empty and ready to use.
type Store struct {
	mu     sync.Mutex
	byID   map[storeID]*list.Element
	oldest list.List
	size   int
}

type storeID struct{ lane, id string }

type stored struct {
	id    storeID
	value any
	size  int
}

// Put stores a value, replacing one with the same ID. The value must not be modified afterwards.
func (s *Store) Put(lane, id string, value any, size int) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.byID == nil {
		s.byID = map[storeID]*list.Element{}
	}

	key := storeID{lane, id}
	s.drop(s.byID[key])
	s.byID[key] = s.oldest.PushBack(&stored{id: key, value: value, size: size})
	s.size += size

	for s.size > maxStored {
		s.drop(s.oldest.Front())
	}
}

// Get returns a value of a lane, or nil if there is none with that ID.
func (s *Store) Get(lane, id string) any {
	s.mu.Lock()
	defer s.mu.Unlock()

	if element := s.byID[storeID{lane, id}]; element != nil {
		return entryOf(element).value
	}

	return nil
}

// Clear drops the values of a lane, or of all lanes if it is nil.
func (s *Store) Clear(lane *string) {
	s.mu.Lock()
	defer s.mu.Unlock()

	for element := s.oldest.Front(); element != nil; {
		next := element.Next()
		if lane == nil || entryOf(element).id.lane == *lane {
			s.drop(element)
		}

		element = next
	}
}

// drop removes an element, if there is one; the caller holds the lock.
func (s *Store) drop(element *list.Element) {
	if element == nil {
		return
	}

	s.oldest.Remove(element)
	s.size -= entryOf(element).size
	delete(s.byID, entryOf(element).id)
}

func entryOf(element *list.Element) *stored {
	entry, _ := element.Value.(*stored)

	return entry
}
