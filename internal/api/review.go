package api

// Reviews reads and decides review items.
type Reviews interface{}

// addReviews registers the operations of review items.
func (s *Server) addReviews() {}
