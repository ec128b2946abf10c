package api

import (
	"context"
	"net/http"
	"time"
)

// pageRoute is the route name of the dashboard's files, which have no patterns.
const pageRoute = "dashboard"

// Observe receives each finished request: the pattern of its route, which is empty if none matched, and whether it was a stream.
type Observe func(route, method string, status int, took time.Duration, stream bool)

// exchangeKey is the context key of a request's exchange.
type exchangeKey struct{}

// exchange describes a request and its response. It belongs to the request's goroutine.
type exchange struct {
	route  string
	stream bool
}

// observed reports each finished request. It uses real time on purpose: it measures the server.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, writer, seen := time.Now(), &watchedWriter{ResponseWriter: w}, &exchange{}

		// Also for a response that is aborted.
		defer func() {
			status := writer.status
			if status == 0 {
				status = http.StatusOK
			}

			s.observe(seen.route, r.Method, status, time.Since(began), seen.stream)
		}()

		next.ServeHTTP(writer, r.WithContext(context.WithValue(r.Context(), exchangeKey{}, seen)))
	})
}

// noteRoute records which route a request matched.
func noteRoute(ctx context.Context, route string, stream bool) {
	if seen, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		seen.route, seen.stream = route, stream
	}
}
