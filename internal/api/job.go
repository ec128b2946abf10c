package api

// Jobs shows and controls background jobs.
type Jobs interface{}

// addJobs registers the operations of background jobs.
func (s *Server) addJobs() {}
