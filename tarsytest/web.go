package tarsytest

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"testing"

	"tarsy.dev/tarsy/internal/app"
)

// newWeb serves hosts that the server believes to be on the internet: each gets a public address, and connections to it
// reach a real HTTP server of the test.
func newWeb(t testing.TB, hosts map[string]http.Handler) *app.Web {
	t.Helper()

	addresses, servers := map[string]netip.Addr{}, map[string]string{}
	next := netip.MustParseAddr("198.41.0.4")

	for _, host := range slices.Sorted(maps.Keys(hosts)) {
		server := httptest.NewServer(hosts[host])
		t.Cleanup(server.Close)

		addresses[host] = next
		servers[next.String()] = server.Listener.Addr().String()
		next = next.Next()
	}

	return &app.Web{
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if address, ok := addresses[host]; ok {
				return []netip.Addr{address}, nil
			}

			return nil, fmt.Errorf("the test's web has no host %q", host)
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			host, _, err := net.SplitHostPort(address)
			if err != nil {
				return nil, fmt.Errorf("split address: %w", err)
			}

			return (&net.Dialer{}).DialContext(ctx, network, servers[host])
		},
	}
}
