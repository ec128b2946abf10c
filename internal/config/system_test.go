package config_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTrustedProxiesAreNetworksOrAddresses(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "system: {trusted_proxies: [10.0.0.1, 10.1.2.3/8, '::1', '::ffff:192.0.2.1', '::ffff:192.0.2.0/120', 'fe80::1%eth0']}\n", nil)
	want := []string{"10.0.0.1/32", "10.0.0.0/8", "::1/128", "192.0.2.1/32", "192.0.2.0/24", "fe80::1/128"}
	var got []string
	for _, network := range c.System.Proxies() {
		got = append(got, network.String())
	}
	require.Equal(t, want, got)
	require.True(t, c.System.Proxies()[0].Contains(netip.MustParseAddr("10.0.0.1")))
}
