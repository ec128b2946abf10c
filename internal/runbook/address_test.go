package runbook_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

const page = "http://docs.example.org/a.md"

// private are addresses that must never be dialled, at least one of each kind.
var private = map[string]string{
	"unspecified":                   "0.0.0.0",
	"this network":                  "0.1.2.3",
	"private 10":                    "10.1.2.3",
	"carrier-grade NAT, first":      "100.64.0.0",
	"carrier-grade NAT, last":       "100.127.255.255",
	"metadata of Alibaba":           "100.100.100.200",
	"loopback":                      "127.0.0.1",
	"loopback, another":             "127.255.255.254",
	"metadata of Azure":             "168.63.129.16",
	"link-local":                    "169.254.1.1",
	"metadata of clouds":            "169.254.169.254",
	"private 172, first":            "172.16.0.1",
	"private 172, last":             "172.31.255.255",
	"metadata of Oracle":            "192.0.0.192",
	"documentation 1":               "192.0.2.1",
	"6to4 relay":                    "192.88.99.1",
	"private 192":                   "192.168.1.1",
	"benchmark, first":              "198.18.0.1",
	"benchmark, last":               "198.19.255.255",
	"documentation 2":               "198.51.100.1",
	"documentation 3":               "203.0.113.1",
	"multicast":                     "224.0.0.1",
	"multicast, last":               "239.255.255.255",
	"reserved":                      "240.0.0.1",
	"broadcast":                     "255.255.255.255",
	"IPv6 unspecified":              "::",
	"IPv6 loopback":                 "::1",
	"IPv4-compatible":               "::8.8.8.8",
	"IPv4-mapped loopback":          "::ffff:127.0.0.1",
	"IPv4-mapped metadata":          "::ffff:169.254.169.254",
	"IPv4-translated":               "::ffff:0:10.0.0.1",
	"NAT64 loopback":                "64:ff9b::127.0.0.1",
	"NAT64 private":                 "64:ff9b::10.0.0.1",
	"NAT64 metadata of Azure":       "64:ff9b::168.63.129.16",
	"NAT64 of a local prefix":       "64:ff9b:1::8.8.8.8",
	"discard":                       "100::1",
	"Teredo":                        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
	"IPv6 benchmark":                "2001:2::1",
	"identifier":                    "2001:20::1",
	"IPv6 documentation":            "2001:db8::1",
	"6to4 private":                  "2002:0a00:0001::1",
	"6to4 public":                   "2002:0808:0808::1",
	"IPv6 documentation, new":       "3fff::1",
	"never given out":               "4000::1",
	"segment routing":               "5f00::1",
	"unique-local":                  "fc00::1",
	"unique-local, metadata of AWS": "fd00:ec2::254",
	"IPv6 link-local":               "fe80::1",
	"IPv6 link-local with a zone":   "fe80::1%lo",
	"public with a zone":            "2606:4700::1%eth0",
	"site-local":                    "fec0::1",
	"IPv6 multicast":                "ff02::1",
}

func TestNonPublicAddressIsNeverDialled(t *testing.T) {
	t.Parallel()
	n := newInternet(t)

	for name, address := range private {
		for _, addresses := range [][]string{{address}, {publicIP.String(), address}} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f := n.fetcher(t, func(cfg *runbook.Config) {
					cfg.Resolve = answering(addresses...)
					cfg.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
						t.Errorf("%s was dialled", address)

						return nil, errors.New("not here")
					}
				})

				_, err := f.Fetch(t.Context(), page)

				requireFailure(t, err, tarsy.CodeForbidden, "from docs.example.org: it is not on the public internet")
				require.NotContains(t, err.Error(), address)
			})
		}
	}
}

func TestPublicAddressIsDialledAsChecked(t *testing.T) {
	t.Parallel()

	for resolved, dialled := range map[string]string{
		"140.82.112.3":          "140.82.112.3:80",
		"100.63.255.255":        "100.63.255.255:80",
		"100.128.0.0":           "100.128.0.0:80",
		"172.15.255.255":        "172.15.255.255:80",
		"172.32.0.0":            "172.32.0.0:80",
		"223.255.255.255":       "223.255.255.255:80",
		"::ffff:140.82.112.3":   "140.82.112.3:80",
		"64:ff9b::140.82.112.3": "[64:ff9b::8c52:7003]:80",
		"2606:50c0:8000::154":   "[2606:50c0:8000::154]:80",
		"2001:4860:4860::8888":  "[2001:4860:4860::8888]:80",
	} {
		t.Run(resolved, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			f := n.fetcher(t, func(cfg *runbook.Config) { cfg.Resolve = answering(resolved) })

			_, err := f.Fetch(t.Context(), page)

			require.NoError(t, err)
			require.Equal(t, []string{dialled}, n.dialled)
		})
	}
}

func TestPrivateIPv4InsideIPv6IsDetected(t *testing.T) {
	t.Parallel()
	dialled := errors.New("dialled")
	networks := []string{"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.168.0.0/16", "224.0.0.0/3"}

	rapid.Check(t, func(t *rapid.T) {
		network := netip.MustParsePrefix(rapid.SampledFrom(networks).Draw(t, "network"))
		inside := rapid.Custom(func(t *rapid.T) netip.Addr {
			host, first := rapid.Uint32().Draw(t, "host")&(1<<(32-network.Bits())-1), network.Addr().As4()

			return netip.AddrFrom4([4]byte{
				first[0] | byte(host>>24), first[1] | byte(host>>16), first[2] | byte(host>>8), first[3] | byte(host),
			})
		}).Draw(t, "address")
		require.True(t, network.Contains(inside))
		four := inside.As4()

		for _, prefix := range [][]byte{
			{10: 0xff, 11: 0xff}, {8: 0xff, 9: 0xff, 11: 0}, {11: 0}, {0, 0x64, 0xff, 0x9b, 11: 0}, {0, 0x64, 0xff, 0x9b, 0, 1, 11: 0},
		} {
			hidden, _ := netip.AddrFromSlice(append(prefix, four[:]...))
			f := runbook.New(runbook.Config{
				AllowedDomains: hostsOfTests, Resolve: answering(hidden.String()),
				Dial: func(context.Context, string, string) (net.Conn, error) { return nil, dialled },
			})
			_, err := f.Fetch(context.Background(), page)
			f.Close()
			require.Equal(t, tarsy.CodeForbidden, tarsy.CodeOf(err), hidden)
		}
	})
}

func TestLiteralAddressIsCheckedWithoutResolver(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.AllowedDomains = []string{"127.0.0.1", "::1", "::ffff:10.0.0.1", "140.82.112.3", "2606:4700::1"}
	})

	for _, url := range []string{"http://127.0.0.1/", "http://[::1]/", "http://[::ffff:10.0.0.1]:8080/"} {
		_, err := f.Fetch(t.Context(), url)
		requireFailure(t, err, tarsy.CodeForbidden, "not on the public internet")
	}
	for _, url := range []string{"http://140.82.112.3/a", "http://[2606:4700::1]/a", "http://[2606:4700::1]:8080/a"} {
		_, err := f.Fetch(t.Context(), url)
		require.NoError(t, err)
	}
	require.Empty(t, n.lookups)
	require.Equal(t, []string{"140.82.112.3:80", "[2606:4700::1]:80", "[2606:4700::1]:8080"}, n.dialled)
}

func TestDNSRebindingCannotRedirectFetch(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.handle("docs.example.org", redirect("/again"))
	var lookups atomic.Int32
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			if lookups.Add(1) == 1 {
				return []netip.Addr{publicIP}, nil
			}

			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		}
	})

	_, err := f.Fetch(t.Context(), page)

	requireFailure(t, err, tarsy.CodeForbidden, "not on the public internet")
	require.EqualValues(t, 2, lookups.Load(), "one look for each connection")
	require.Equal(t, []string{publicIP.String() + ":80"}, n.dialled)
}

func TestNextAddressIsTriedOnFailureOrHang(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	clock := clockwork.NewFakeClock()
	hanging := make(chan struct{})
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.Clock = clock
		cfg.Resolve = answering("140.82.112.1", "140.82.112.2", "140.82.112.3", "140.82.112.4", "140.82.112.5")
		cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			switch address {
			case "140.82.112.1:80":
				return nil, errors.New("refused")
			case "140.82.112.2:80":
				close(hanging)
				<-ctx.Done()

				return nil, ctx.Err()
			}

			return n.dial(ctx, network, address)
		}
	})
	go func() {
		<-hanging
		clock.Advance(2500 * 1e6) // a quarter of the time limit: four addresses are tried
	}()

	text, err := f.Fetch(t.Context(), page)

	require.NoError(t, err)
	require.Equal(t, "# from docs.example.org", text)
	require.Equal(t, []string{"140.82.112.3:80"}, n.dialled)
}

func TestUnknownOrUnreachableHostErrorHidesInternals(t *testing.T) {
	t.Parallel()
	n := newInternet(t)

	for name, c := range map[string]struct {
		change func(*runbook.Config)
		says   string
	}{
		"not found": {func(cfg *runbook.Config) {
			cfg.Resolve = func(context.Context, string) ([]netip.Addr, error) {
				return nil, &net.DNSError{Err: "no such host", Server: "10.9.8.7:53"}
			}
		}, "its address could not be found"},
		"no address": {func(cfg *runbook.Config) { cfg.Resolve = answering() }, "its address could not be found"},
		"not an address": {func(cfg *runbook.Config) {
			cfg.Resolve = func(context.Context, string) ([]netip.Addr, error) { return []netip.Addr{{}}, nil }
		}, "not on the public internet"},
		"refused": {func(cfg *runbook.Config) {
			cfg.Dial = func(context.Context, string, string) (net.Conn, error) {
				return nil, errors.New("dial 10.9.8.7: refused")
			}
		}, "it could not be reached"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := n.fetcher(t, c.change).Fetch(t.Context(), page)

			require.ErrorContains(t, err, c.says)
			requireFailure(t, err, tarsy.CodeOf(err), "could not fetch the runbook from docs.example.org: ")
			require.NotContains(t, err.Error(), "10.9.8.7")
		})
	}
}

func TestSystemResolverIsAlsoChecked(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, func(cfg *runbook.Config) {
		cfg.AllowedDomains = []string{"localhost"}
		cfg.Resolve, cfg.Dial = nil, nil
	})

	_, err := f.Fetch(t.Context(), "http://localhost/")

	requireFailure(t, err, tarsy.CodeForbidden, "not on the public internet")
}
