package runbook

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"time"

	"tarsy.dev/tarsy"
)

// maxAddresses is how many addresses of a host are tried.
const maxAddresses = 4

// specialPrefixes returns the networks that are not the public internet, from the registries of special-purpose addresses.
func specialPrefixes() []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range []string{
		"0.0.0.0/8",        // this network
		"10.0.0.0/8",       // private
		"100.64.0.0/10",    // carrier-grade NAT; metadata of Alibaba Cloud
		"127.0.0.0/8",      // loopback
		"168.63.129.16/32", // metadata of Azure, which is inside a public network
		"169.254.0.0/16",   // link-local; metadata of most clouds
		"172.16.0.0/12",    // private
		"192.0.0.0/24",     // protocol assignments; metadata of Oracle Cloud
		"192.0.2.0/24",     // documentation
		"192.88.99.0/24",   // 6to4 relays
		"192.168.0.0/16",   // private
		"198.18.0.0/15",    // benchmarks
		"198.51.100.0/24",  // documentation
		"203.0.113.0/24",   // documentation
		"224.0.0.0/4",      // multicast
		"240.0.0.0/4",      // reserved, broadcast
		"2001::/23",        // protocol assignments: Teredo, benchmarks, identifiers
		"2001:db8::/32",    // documentation
		"2002::/16",        // 6to4, which hides an IPv4 address
		"3fff::/20",        // documentation
	} {
		prefixes = append(prefixes, netip.MustParsePrefix(text))
	}

	return prefixes
}

// public unmaps a and reports whether it is on the public internet. Of IPv6, only 2000::/3 has been allocated; loopback,
// unique-local, link-local, multicast and other special forms are outside it.
func (f *Fetcher) public(a netip.Addr) (netip.Addr, bool) {
	a = a.Unmap()
	inner := a
	if nat64 := netip.PrefixFrom(netip.AddrFrom16([16]byte{1: 0x64, 2: 0xff, 3: 0x9b}), 96); nat64.Contains(a) {
		// IPv6-only networks reach all of IPv4 through this prefix, so the embedded address decides.
		whole := a.As16()
		inner = netip.AddrFrom4([4]byte(whole[12:]))
	} else if a.Is6() && a.As16()[0]>>5 != 1 {
		return a, false
	}
	if !a.IsValid() || a.Zone() != "" {
		return a, false
	}
	for _, prefix := range f.special {
		if prefix.Contains(inner) {
			return a, false
		}
	}

	return a, true
}

// dial resolves the host of a URL and connects to an address that it has checked itself: the name is not resolved again in
// between. The connection is closed when ctx is done.
func (f *Fetcher) dial(ctx context.Context, at *url.URL) (net.Conn, error) {
	addresses, err := f.lookup(ctx, at)
	if err != nil {
		return nil, err
	}

	port := at.Port()
	if port == "" {
		port = ownPort(at.Scheme)
	}

	var failed error
	for i, address := range addresses {
		// No address may use up the time of the following ones; the last one gets the remaining time.
		var limit time.Duration
		if i < len(addresses)-1 {
			limit = f.cfg.Timeout / time.Duration(len(addresses))
		}
		conn, err := f.attempt(ctx, net.JoinHostPort(address.String(), port), limit)
		if err == nil {
			context.AfterFunc(ctx, func() { _ = conn.Close() })

			return conn, nil
		}
		failed = errors.Join(failed, err)
	}

	return nil, failure(tarsy.CodeUnavailable, at, failed, "it could not be reached")
}

// lookup returns the addresses of a host. A single address that is not public fails the lookup: hosts on the internet have
// none.
func (f *Fetcher) lookup(ctx context.Context, at *url.URL) ([]netip.Addr, error) {
	host := at.Hostname()
	found := []netip.Addr{}
	if literal, err := netip.ParseAddr(host); err == nil {
		found = append(found, literal)
	} else if found, err = f.cfg.Resolve(ctx, host); err != nil || len(found) == 0 {
		return nil, failure(tarsy.CodeUnavailable, at, err, "its address could not be found")
	}

	addresses := make([]netip.Addr, 0, len(found))
	for _, a := range found {
		a, ok := f.public(a)
		if !ok {
			return nil, failure(tarsy.CodeForbidden, at, fmt.Errorf("address %v", a), "it is not on the public internet")
		}
		addresses = append(addresses, a)
	}

	return addresses[:min(len(addresses), maxAddresses)], nil
}

// attempt connects to one address, within a time limit if it is not zero.
func (f *Fetcher) attempt(ctx context.Context, address string, limit time.Duration) (net.Conn, error) {
	if limit > 0 {
		limited, cancel := context.WithCancel(ctx)
		defer cancel()
		defer f.cfg.Clock.AfterFunc(limit, cancel).Stop()
		ctx = limited
	}

	return f.cfg.Dial(ctx, "tcp", address)
}
