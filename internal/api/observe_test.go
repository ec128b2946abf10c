package api_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
)

// observation is an observed request without its duration.
type observation struct {
	Route, Method string
	Status        int
	Stream        bool
}

func TestRequestsAreObservedByPatternOfRoute(t *testing.T) {
	t.Parallel()

	var (
		mu  sync.Mutex
		all []observation
	)

	f := newFixture(t, func(cfg *api.Config) {
		cfg.Auth.Required = true
		cfg.Observe = func(route, method string, status int, took time.Duration, stream bool) {
			require.GreaterOrEqual(t, took, time.Duration(0))
			mu.Lock()
			defer mu.Unlock()

			all = append(all, observation{route, method, status, stream})
		}
		cfg.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("tarsy_up 1\n")) })
	})
	_, key := f.key(t, "prometheus", tarsy.ScopeRead)

	for _, c := range []struct {
		method, path string
		header       []string
		want         observation
	}{
		{http.MethodGet, "/livez", nil, observation{"/livez", "GET", http.StatusOK, false}},
		{http.MethodGet, "/metrics", nil, observation{"/metrics", "GET", http.StatusUnauthorized, false}},
		{http.MethodGet, "/metrics", key, observation{"/metrics", "GET", http.StatusOK, false}},
		{http.MethodGet, "/api/v1/sessions/" + ident.New(), key, observation{"/api/v1/sessions/{id}", "GET", http.StatusNotFound, false}},
		{http.MethodGet, "/api/v1/ws", key, observation{"/api/v1/ws", "GET", http.StatusOK, true}},
		{http.MethodGet, "/api/v1/" + ident.New(), key, observation{"", "GET", http.StatusNotFound, false}},
		{http.MethodPut, "/api/v1/sessions", key, observation{"", "PUT", http.StatusMethodNotAllowed, false}},
	} {
		got := f.request(t, c.method, c.path, "", c.header...)
		require.Equal(t, c.want.Status, got.status, got.body)

		mu.Lock()
		require.Equal(t, c.want, all[len(all)-1], "%s %s", c.method, c.path)
		mu.Unlock()
	}
}
