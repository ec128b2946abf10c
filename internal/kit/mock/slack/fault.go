package slack

import (
	"slices"
	"time"
)

// Fault breaks requests to the Web API.
type Fault struct {
	// Method is the method; empty means any.
	Method string `yaml:"method" doc:"The method, such as chat.postMessage; without it, any."`
	// Status is the status of HTTP that is answered instead, such as 429 or 503.
	Status int `yaml:"status" doc:"The status that is answered instead, such as 429 or 503." min:"400" max:"599" default:"429"`
	// RetryAfter is the header of a 429, in whole seconds.
	RetryAfter time.Duration `yaml:"retry_after" doc:"The header Retry-After of a 429." default:"1s" min:"1s"`
	// Unknown means that the request has its effect, and the connection is closed without an answer.
	Unknown bool `yaml:"unknown" doc:"The request has its effect, but the connection is closed without an answer."`
	// Times is how many requests it breaks.
	Times int `yaml:"times" doc:"How many requests." default:"1" min:"1"`
}

// Break breaks the next requests.
func (s *Server) Break(f Fault) { s.faults.Add(f, f.Times) }

// Disconnect ends all connections: with a message first, as Slack does before it restarts a server, or without, as a broken network.
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

// LoseAcks ignores the next acknowledgements of what is sent from now on, so that it is sent again. An acknowledgement of something earlier that is still in
// flight is not ignored.
func (s *Server) LoseAcks(n int) {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()

	s.socket.ignoring += n
	s.socket.ignoreFrom = len(s.socket.envelopes)
}

// Redeliver sends an envelope again, whether it was acknowledged or not.
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
