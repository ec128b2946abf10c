package api

import (
	"net/http"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
)

// defaultBodyTimeout is how long a request's body may take to arrive.
const defaultBodyTimeout = 20 * time.Second

// bounded keeps a request from holding its connection: a body has to arrive in time, the answer has to be read, and what
// comes in by the reserve of connections gets an answer and no more.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		paced := newPacedWriter(r.Context(), w, s.writeTimeout)
		defer paced.finish()

		w = paced

		if limit.Reserved(r.Context()) {
			w.Header().Set("Connection", "close")

			if r.URL.Path != "/livez" && r.URL.Path != "/readyz" {
				ignoreBody(w, r)
				s.refuse(w, r, tarsy.Errorf(tarsy.CodeOverloaded,
					"The server has as many connections as system.max_connections allows, or half of them are from this network. Try again later."))

				return
			}
		}

		s.boundBody(w, r)
		next.ServeHTTP(w, r)
	})
}

// boundBody gives the body of a request the time in which it must arrive. No GET has a body that we want; without this
// the HTTP server would wait for it before it answers.
func (s *Server) boundBody(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.ContentLength == 0:
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		ignoreBody(w, r)
	default:
		// When the body is there, the HTTP server lifts the deadline. A writer that knows no deadlines, as in a test
		// without a socket, has no slow client either.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyTimeout))
	}
}

// ignoreBody answers without the request's body, and ends the connection after that.
func ignoreBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
}
