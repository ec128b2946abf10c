package api

// Board reads and changes entities, projects, epics and tags.
type Board interface{}

// addBoard registers the operations of entities, projects, epics and tags.
func (s *Server) addBoard() {}
