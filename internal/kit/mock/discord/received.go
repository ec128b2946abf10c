package discord

import (
	"context"
	"fmt"
)

// WaitReceived waits until the clients have got every event that there was until now. It asks them for a heartbeat, which
// reports the last event that a client got. A client that is not connected is waited for; one whose session ends gets no more.
func (s *Server) WaitReceived(ctx context.Context) error {
	targets := s.gateway.sent()
	asked := map[*conn]bool{}

	err := s.gateway.changes.Wait(ctx, func() bool { return s.gateway.received(targets, asked) })
	if err != nil {
		return fmt.Errorf("a client has not got all events (%w); %s", err, s.describeConnections())
	}

	return nil
}

// sent is the number of the last event of each session.
func (g *gateway) sent() map[*session]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()

	last := map[*session]int64{}
	for _, s := range g.sessions {
		last[s] = s.sequence
	}

	return last
}

// received reports whether the sessions have got their events. It asks each connection of those that have not once, after
// what was sent to it before.
func (g *gateway) received(targets map[*session]int64, asked map[*conn]bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()

	done := true

	for s, target := range targets {
		if g.sessions[s.id] != s || s.received >= target {
			continue
		}

		done = false

		if c := s.conn; c != nil && !asked[c] {
			asked[c] = true

			c.sendOp(opHeartbeat, nil)
		}
	}

	return done
}
