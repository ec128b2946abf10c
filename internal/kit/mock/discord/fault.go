package discord

// DropGateway closes all connections to the gateway; without a close code, they break as if the network failed. Sessions
// can be resumed, unless they are forgotten.
func (s *Server) DropGateway(d Drop) { s.gateway.drop(d) }

// Reconnect asks all clients to reconnect and resume (op 7).
func (s *Server) Reconnect() { s.gateway.reconnect() }

// InvalidSession tells all clients that their session is invalid (op 9).
func (s *Server) InvalidSession(resumable bool) { s.gateway.invalidate(resumable) }

// StopAcks stops acknowledging heartbeats, or starts again.
func (s *Server) StopAcks(stop bool) { s.gateway.setStopAcks(stop) }

// Force429 rejects the next requests.
func (s *Server) Force429(f Force429) { s.limiter.force(f) }
