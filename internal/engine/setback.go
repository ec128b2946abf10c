package engine

import "time"

// maxUnstorable is how often the database may permanently reject steps of a session before the session is given up: otherwise a step that
// can never be stored would be retried, and its LLM call paid for, forever. A database that is down or full is not a reason to give up.
const maxUnstorable = 5

// setbacks counts the failures of a session since it last made progress. It belongs to the session's goroutine.
type setbacks struct {
	// reached is the last sequence number of the journal when the session was last loaded.
	reached  int64
	failures int
	// unstorable counts the failures whose step can never be stored.
	unstorable int
}

// notLoaded counts a failure to load the session.
func (s *setbacks) notLoaded() { s.failures++ }

// loaded counts a failed step, after which the session was reloaded with its journal at lastSeq.
func (s *setbacks) loaded(lastSeq int64, unstorable bool) {
	if lastSeq > s.reached {
		*s = setbacks{reached: lastSeq}
	}

	if unstorable {
		s.unstorable++
	}

	s.failures++
}

// exhausted reports whether to give the session up.
func (s *setbacks) exhausted() bool { return s.unstorable >= maxUnstorable }

// pause returns how long to wait before the next attempt: zero after the first failure, then doubling up to a limit.
func (s *setbacks) pause() time.Duration {
	const first, longest, doublings = 50 * time.Millisecond, 5 * time.Second, 7

	if s.failures <= 1 {
		return 0
	}

	return min(first<<min(s.failures-2, doublings), longest)
}
