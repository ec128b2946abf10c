package api

// Notes captures notes and reads them.
type Notes interface{}

// addNotes registers the operations of notes.
func (s *Server) addNotes() {}
