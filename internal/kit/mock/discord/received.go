package discord

import (
	"context"
	"fmt"
)

// WaitReceived waits until the clients have received every event sent so far. It asks them for a heartbeat, which reports
// the last event that a client received. It waits for clients that are not connected; one whose session ends receives no
// more.
func (s *Server) WaitReceived(ctx context.Context) error {
	targets := s.gateway.sent()
	asked := map[*conn]bool{}

	err := s.gateway.changes.Wait(ctx, func() bool { return s.gateway.received(targets, asked) })
	if err != nil {
		return fmt.Errorf("a client has not received all events (%w); %s", err, s.describeConnections())
	}

	return nil
}

// sent returns the number of the last event of each session.
func (g *gateway) sent() map[*session]int64 {
	g.mu.Lock()
	defer g.mu.Unlock()

	last := map[*session]int64{}
	for _, s := range g.sessions {
		last[s] = s.sequence
	}

	return last
}

// received reports whether the sessions have received their events. It asks each connection of the others once, after the
// events already sent to it.
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
