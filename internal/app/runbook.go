package app

import (
	"context"
	"net"
	"net/netip"
)

// Web is a way to hosts outside: names are looked up and connections made by these two.
type Web struct {
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}
