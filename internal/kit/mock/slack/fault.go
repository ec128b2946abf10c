package slack

import (
	"slices"
	"time"
)

// Fault makes requests to the Web API fail.
type Fault struct {
	// Method is the affected method; empty means any.
	Method string `yaml:"method" doc:"The affected method, such as chat.postMessage; by default any."`
	// Status is the HTTP status of the response, such as 429 or 503.
	Status int `yaml:"status" doc:"The HTTP status of the response, such as 429 or 503." min:"400" max:"599" default:"429"`
	// RetryAfter is the Retry-After header of a 429, in whole seconds.
	RetryAfter time.Duration `yaml:"retry_after" doc:"The Retry-After header of a 429 response." default:"1s" min:"1s"`
	// Unknown means that the request takes effect, but the connection is closed without a response.
	Unknown bool `yaml:"unknown" doc:"The request takes effect, but the connection is closed without a response."`
	// Times is how many requests it affects.
	Times int `yaml:"times" doc:"The number of affected requests." default:"1" min:"1"`
}

// Break adds a fault for the next requests.
func (s *Server) Break(f Fault) { s.faults.Add(f, f.Times) }

// Disconnect ends all connections: after a message, as Slack does before it restarts a server, or without one, like a
// broken network.
func (s *Server) Disconnect(graceful bool) {
	m := s.socket

	m.mu.Lock()
	conns := slices.Clone(m.conns)
	m.mu.Unlock()

	for _, c := range conns {
		if graceful {
			_ = c.send(m.ctx, object{"type": "disconnect", "reason": "refresh_requested", "debug_info": object{"host": "mock"}})
		} else {
			_ = c.socket.CloseNow()
		}
	}
}

// LoseAcks ignores the next acknowledgements of envelopes sent from now on, so that they are sent again. An acknowledgement
// of an earlier envelope that is still in flight is not ignored.
func (s *Server) LoseAcks(n int) {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()

	s.socket.ignoring += n
	s.socket.ignoreFrom = len(s.socket.envelopes)
}

// Redeliver resends an envelope, whether or not it was acknowledged.
func (s *Server) Redeliver(id string) {
	m := s.socket

	m.mu.Lock()

	i := slices.IndexFunc(m.envelopes, func(e *Envelope) bool { return e.ID == id })
	if i < 0 {
		m.mu.Unlock()

		return
	}

	e := m.envelopes[i]
	e.Acked, e.Attempts = false, min(e.Attempts, maxAttempts-1)
	m.mu.Unlock()
	m.attempt(e, "timeout")
}
