package api

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"tarsy.dev/tarsy/internal/problem"
)

// recovered answers a panic with a problem if the response has not begun; otherwise it aborts the connection, so that a partial
// response is not mistaken for a complete one.
func (s *Server) recovered(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writer := &watchedWriter{ResponseWriter: w}

		defer func() {
			cause := recover()
			if cause == nil {
				return
			}

			if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(cause)
			}

			err := fmt.Errorf("panic: %v\n%s", cause, debug.Stack())

			if writer.begun {
				// The response has begun, so the error can only be logged.
				_ = problem.Explain(r.Context(), s.logger, err)
				panic(http.ErrAbortHandler)
			}

			s.refuse(w, r, err)
		}()

		next.ServeHTTP(writer, r)
	})
}

// watchedWriter records whether a response has begun. Hijacking and flushing go through Unwrap.
type watchedWriter struct {
	http.ResponseWriter

	begun bool
	// status is the status of the response; 0 before it is written.
	status int
}

func (w *watchedWriter) WriteHeader(status int) {
	w.begun, w.status = true, status
	w.ResponseWriter.WriteHeader(status)
}

func (w *watchedWriter) Write(text []byte) (int, error) {
	w.begun = true

	return w.ResponseWriter.Write(text)
}

// Unwrap gives http.ResponseController the underlying writer.
func (w *watchedWriter) Unwrap() http.ResponseWriter {
	w.begun = true

	return w.ResponseWriter
}
