package limit_test

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/limit"
)

// peers is a listener that accepts the connections of a test.
type peers struct {
	net.Listener

	next chan net.Conn
}

func (p *peers) Accept() (net.Conn, error) { return <-p.next, nil }

// peer is a connection from an arbitrary address.
type peer struct {
	net.Conn

	address net.Addr
	closed  bool
}

func (p *peer) RemoteAddr() net.Addr { return p.address }

func (p *peer) Close() error {
	p.closed = true

	return nil
}

// desk is a limited listener with counts of what it reported.
type desk struct {
	t                *testing.T
	peers            *peers
	listener         *limit.Listener
	refused, evicted int
}

func newDesk(t *testing.T, cfg limit.ListenerConfig) *desk {
	t.Helper()

	d := &desk{t: t, peers: &peers{next: make(chan net.Conn, 1)}}
	cfg.Refused = func(net.Addr) { d.refused++ }
	cfg.Evicted = func(net.Addr) { d.evicted++ }
	d.listener = limit.NewListener(d.peers, cfg)

	return d
}

// visitor is a connection as the HTTP server and the underlying listener see it.
type visitor struct {
	*peer

	conn net.Conn
	ctx  context.Context
}

func (d *desk) connect(address string) *visitor {
	d.t.Helper()

	v := &visitor{peer: &peer{address: net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(address), 4000))}}
	d.peers.next <- v.peer

	conn, err := d.listener.Accept()
	require.NoError(d.t, err)

	v.conn, v.ctx = conn, limit.ConnContext(d.t.Context(), conn)

	return v
}

// asks starts a request on the connection, and rests makes it idle.
func (v *visitor) asks() *visitor {
	limit.ConnState(v.conn, http.StateActive)

	return v
}

func (v *visitor) rests() *visitor {
	limit.ConnState(v.conn, http.StateIdle)

	return v
}

// proves authenticates the caller of the request, and streams makes its response a stream.
func (v *visitor) proves() *visitor {
	limit.Prove(v.ctx)

	return v
}

func (v *visitor) streams() *visitor {
	limit.Work(v.ctx)
	limit.Stream(v.ctx)

	return v
}

func (v *visitor) reserved() bool { return limit.Reserved(v.ctx) }

const someone, another = "192.0.2.1", "192.0.2.2"

func TestListenerClosesOldestConnectionOfFullReserve(t *testing.T) {
	t.Parallel()

	d := newDesk(t, limit.ListenerConfig{Connections: 1, Reserve: 2})

	first := d.connect(someone).asks().proves()
	require.False(t, first.reserved())

	oldest, second, third := d.connect(someone), d.connect(someone), d.connect(another)
	require.True(t, oldest.reserved() && second.reserved() && third.reserved())
	require.True(t, oldest.closed)
	require.False(t, first.closed || second.closed || third.closed)
	require.Equal(t, 3, d.refused)

	// Closing a connection twice, or closing an evicted one, frees one slot only.
	for range 2 {
		_ = oldest.conn.Close()
		_ = first.conn.Close()
	}

	next := d.connect(someone).asks().proves()
	require.False(t, next.reserved())
	require.True(t, d.connect(someone).reserved())
}

func TestConnectionsOfKnownCallersNeverGiveWay(t *testing.T) {
	t.Parallel()

	d := newDesk(t, limit.ListenerConfig{Connections: 3, Reserve: 1})

	request, stream := d.connect(someone).asks().proves(), d.connect(someone).asks().proves().streams()
	upgraded := d.connect(someone).asks().proves()
	limit.ConnState(upgraded.conn, http.StateHijacked)

	require.True(t, d.connect(another).reserved())
	require.False(t, request.closed || stream.closed || upgraded.closed)

	// Prove applies to the current request only.
	require.False(t, request.rests().closed)
	require.False(t, d.connect(another).reserved())
	require.True(t, request.closed)
	require.Equal(t, 1, d.evicted)
}

func TestConnectionGivesWayOnlyWhileItsClientIsAwaited(t *testing.T) {
	t.Parallel()

	d := newDesk(t, limit.ListenerConfig{Connections: 1, Reserve: 1})

	request := d.connect(someone).asks()
	limit.Work(request.ctx)
	require.True(t, d.connect(another).reserved())

	limit.Answer(request.ctx)
	require.False(t, d.connect(another).reserved())
	require.True(t, request.closed)
}

func TestIdleConnectionGivesWayFirstThenOldestOfMostFrequentKind(t *testing.T) {
	t.Parallel()

	d := newDesk(t, limit.ListenerConfig{Connections: 6, Reserve: 1})

	silent, stream := d.connect(someone), d.connect(someone).asks().streams()
	older, newer := d.connect(someone).asks(), d.connect(someone).asks()
	rested, resting := d.connect(someone).asks().rests(), d.connect(someone).asks().rests()
	rested.asks().rests() // so the other one has been idle for longer

	for i, want := range []*visitor{resting, rested, older} {
		require.False(t, want.closed, "%d", i)
		require.False(t, d.connect(another).asks().proves().reserved(), "%d", i)
		require.True(t, want.closed, "%d", i)
	}

	require.False(t, newer.closed || silent.closed || stream.closed, "of each of their kinds there is one")

	for range 3 {
		require.False(t, d.connect(another).asks().proves().reserved())
	}

	require.True(t, newer.closed && silent.closed && stream.closed)
	require.True(t, d.connect(another).reserved())
}

func TestNewConnectionSurvivesFloodOfAnotherKind(t *testing.T) {
	t.Parallel()

	const most = 8

	for kind, flood := range map[string]func(*visitor){
		"silent": func(*visitor) {}, "idle": func(v *visitor) { v.asks().rests() }, "request": func(v *visitor) { v.asks() },
		"stream": func(v *visitor) { v.asks().streams() },
	} {
		d := newDesk(t, limit.ListenerConfig{Connections: most, Reserve: 1})
		for range most {
			flood(d.connect(someone))
		}

		visitor := d.connect(someone)

		for range most - 2 {
			flood(d.connect(someone))
		}

		require.False(t, visitor.closed, "%s", kind)

		visitor.asks()

		for range most - 2 {
			flood(d.connect(someone))
		}

		require.False(t, visitor.closed, "%s", kind)
		require.Zero(t, d.refused, "%s", kind)
	}
}

func TestNetworkHasItsShareOfConnectionsAndProxiesHaveAll(t *testing.T) {
	t.Parallel()

	cfg := limit.ListenerConfig{Connections: 4, PerNetwork: 2, Reserve: 1, Proxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}

	for name, test := range map[string]struct {
		addresses [3]string
		reserved  bool
	}{
		"one address":             {[3]string{someone, someone, "::ffff:" + someone}, true},
		"addresses of one /64":    {[3]string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}, true},
		"several addresses":       {[3]string{someone, someone, another}, false},
		"addresses of three /64s": {[3]string{"2001:db8:0:1::1", "2001:db8:0:2::1", "2001:db8:0:3::1"}, false},
		"one proxy":               {[3]string{"10.0.0.1", "10.0.0.1", "::ffff:10.0.0.1"}, false},
	} {
		d := newDesk(t, cfg)

		var last *visitor
		for _, address := range test.addresses {
			last = d.connect(address).asks().proves()
		}

		require.Equal(t, test.reserved, last.reserved(), name)
	}

	// At the limit of a network, one of its own connections is evicted, not one of another network.
	d := newDesk(t, cfg)
	other, oldest, newer := d.connect(another), d.connect(someone), d.connect(someone)

	require.False(t, d.connect(someone).reserved())
	require.True(t, oldest.closed)
	require.False(t, other.closed || newer.closed)

	// A closed connection frees its slot.
	require.NoError(t, newer.conn.Close())
	require.False(t, d.connect(someone).reserved())
	require.Equal(t, 1, d.evicted)
}
