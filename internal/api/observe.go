package api

import (
	"context"
	"net/http"
	"time"
)

// pageRoute is the route of the dashboard's files, which have no patterns.
const pageRoute = "dashboard"

// Observe is told of each request that was answered: the pattern of its route, which is empty if it matched none, and whether it was a
// stream.
type Observe func(route, method string, status int, took time.Duration, stream bool)

// exchangeKey is where a request's context carries its exchange.
type exchangeKey struct{}

// exchange is what is known of a request and its answer. It belongs to the goroutine of the request.
type exchange struct {
	route  string
	stream bool
}

// observed reports each request when it is over. The real time is meant: it measures this server, not what the product does.
func (s *Server) observed(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, writer, seen := time.Now(), &watchedWriter{ResponseWriter: w}, &exchange{}

		// Also for an answer that is cut off.
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

// noteRoute notes which route a request matched.
func noteRoute(ctx context.Context, route string, stream bool) {
	if seen, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		seen.route, seen.stream = route, stream
	}
}
