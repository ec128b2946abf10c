package api

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"tarsy.dev/tarsy/internal/problem"
)

// recovered answers a panic with a problem, if nothing was answered yet; otherwise the connection is cut, so that
// nobody takes half an answer for a whole one.
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
				// The answer has begun; only the log can still tell.
				_ = problem.Explain(r.Context(), s.logger, err)
				panic(http.ErrAbortHandler)
			}

			s.refuse(w, r, err)
		}()

		next.ServeHTTP(writer, r)
	})
}

// watchedWriter knows whether an answer has begun. Hijacking and flushing go through Unwrap.
type watchedWriter struct {
	http.ResponseWriter

	begun bool
	// status is what was answered; 0 until then.
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

// Unwrap gives http.ResponseController what is below.
func (w *watchedWriter) Unwrap() http.ResponseWriter {
	w.begun = true

	return w.ResponseWriter
}
