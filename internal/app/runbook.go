package app

import (
	"context"
	"net"
	"net/netip"
)

// Web replaces how external hosts are reached: Resolve looks up names, and Dial connects.
type Web struct {
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	Dial    func(ctx context.Context, network, address string) (net.Conn, error)
}
