package api

import (
	"net/http"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/limit"
)

// defaultBodyTimeout is how long a request's body can take to arrive.
const defaultBodyTimeout = 20 * time.Second

// bounded keeps a request from occupying its connection: the body has to arrive in time, and the response has to be read. On a reserved
// connection only /livez and /readyz are served; other requests are refused.
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

// boundBody sets the deadline for a request's body to arrive. The body of a GET is never read; without this the HTTP server would wait
// for it before it responds.
func (s *Server) boundBody(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.ContentLength == 0:
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		ignoreBody(w, r)
	default:
		// The HTTP server lifts the deadline when the body has arrived. A writer without deadlines, as in a test without a socket, has
		// no slow client either.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(s.bodyTimeout))
	}
}

// ignoreBody responds without reading the request's body, and closes the connection afterwards.
func ignoreBody(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
		_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	}
}
