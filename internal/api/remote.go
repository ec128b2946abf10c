package api

import (
	"net/http"
	"net/netip"
	"strings"

	"tarsy.dev/tarsy/internal/limit"
)

// remote is the origin of a request.
type remote struct {
	// proxied reports whether a trusted proxy forwarded the request.
	proxied bool
	// address is for the log: the client's address, with its port where it is known.
	address string
	// network is the key by which attempts are counted.
	network string
}

// remote determines the client of a request. Trusted proxies append the peer that they saw to X-Forwarded-For, so the last address
// there that is not a trusted proxy's is the client's; anyone may have written the entries before it.
func (g *guard) remote(r *http.Request) remote {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return remote{address: r.RemoteAddr, network: r.RemoteAddr}
	}

	address := plainAddress(peer.Addr())
	found := remote{proxied: g.trusts(address), address: r.RemoteAddr}
	chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")

	for i := len(chain) - 1; i >= 0 && g.trusts(address); i-- {
		next, err := forwardedAddress(chain[i])
		if err != nil {
			break
		}

		address = next
		found.address = next.String()
	}

	found.network = limit.Network(address)

	return found
}

// trusts reports whether an address is a trusted proxy's.
func (g *guard) trusts(address netip.Addr) bool {
	for _, prefix := range g.proxies {
		if prefix.Contains(address) {
			return true
		}
	}

	return false
}

// forwardedAddress parses an entry of X-Forwarded-For, to which some proxies add a port.
func forwardedAddress(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)

	peer, err := netip.ParseAddrPort(text)
	if err == nil {
		return plainAddress(peer.Addr()), nil
	}

	address, err := netip.ParseAddr(strings.Trim(text, "[]"))

	return plainAddress(address), err
}

func plainAddress(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
