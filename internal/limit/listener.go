package limit

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
)

// ListenerConfig configures a Listener.
type ListenerConfig struct {
	// Connections is how many connections may be open at once.
	Connections int
	// PerNetwork is how many of them one network may have; zero means all.
	PerNetwork int
	// Proxies are peers that connect for others: they may have all connections.
	Proxies []netip.Prefix
	// Reserve is how many more may be open to answer health checks.
	Reserve int
	// Refused is called when a connection exceeds a limit and no other one gives way. It must not block.
	Refused func(remote net.Addr)
	// Evicted is called when a connection was closed because another one exceeds a limit. It must not block.
	Evicted func(remote net.Addr)
}

// Listener bounds the open connections of another listener, in total and for each network. Accept never waits for a free
// place: at a limit the oldest connection that is idle, or whose caller did not prove who it is, is closed. If there is
// none, the new connection enters the reserve, where only health checks are answered, and when the reserve is full the
// oldest connection in it is closed. So clients that connect and stay silent, send or read slowly keep nobody out.
//
// It learns what a connection does from ConnState, Prove, Work, Answer and Stream.
type Listener struct {
	net.Listener

	cfg ListenerConfig

	mu       sync.Mutex
	all      *crowd            // connections outside of the reserve
	networks map[string]*crowd // the same by network, without those of proxies
	reserve  *list.List        // of *conn, oldest first
}

// NewListener wraps a listener.
func NewListener(inner net.Listener, cfg ListenerConfig) *Listener {
	return &Listener{Listener: inner, cfg: cfg, all: &crowd{}, networks: map[string]*crowd{}, reserve: list.New()}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}

	c := &conn{Conn: inner, listener: l, network: l.networkOf(inner.RemoteAddr())}

	evicted := l.admit(c)
	if evicted != nil {
		_ = evicted.Close()
	}

	switch {
	case c.reserved:
		l.cfg.Refused(inner.RemoteAddr())
	case evicted != nil:
		l.cfg.Evicted(evicted.RemoteAddr())
		// Many that wait to be accepted would push out each other before anybody has looked at their requests.
		runtime.Gosched()
	}

	return c, nil
}

// networkOf names the network that a connection counts for; it is empty for proxies.
func (l *Listener) networkOf(remote net.Addr) string {
	tcp, ok := remote.(*net.TCPAddr)
	if !ok {
		return ""
	}

	address := tcp.AddrPort().Addr().Unmap().WithZone("")
	for _, proxies := range l.cfg.Proxies {
		if proxies.Contains(address) {
			return ""
		}
	}

	return Network(address)
}

// admit counts a connection and returns the one that has to make room for it, if any.
func (l *Listener) admit(c *conn) (evicted *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()

	own, full := l.networks[c.network], false

	switch {
	case own != nil && l.cfg.PerNetwork > 0 && own.open >= l.cfg.PerNetwork:
		evicted, full = own.weakest(), true
	case l.all.open >= l.cfg.Connections:
		evicted, full = l.all.weakest(), true
	}

	if full && evicted == nil {
		return l.admitToReserve(c)
	}

	if evicted != nil {
		l.remove(evicted)
	}

	l.add(c)

	return evicted
}

func (l *Listener) admitToReserve(c *conn) (evicted *conn) {
	if oldest := l.reserve.Front(); oldest != nil && l.reserve.Len() >= l.cfg.Reserve {
		evicted, _ = oldest.Value.(*conn)
		l.remove(evicted)
	}

	c.reserved = true
	c.place = l.reserve.PushBack(c)

	return evicted
}

func (l *Listener) add(c *conn) {
	c.crowds = append(c.crowds, l.all)

	if c.network != "" {
		own := l.networks[c.network]
		if own == nil {
			own = &crowd{}
			l.networks[c.network] = own
		}

		c.crowds = append(c.crowds, own)
	}

	for _, in := range c.crowds {
		in.open++
	}

	c.enter(silent)
}

// remove gives the place of a connection back, once.
func (l *Listener) remove(c *conn) {
	if c.place != nil {
		l.reserve.Remove(c.place)
		c.place = nil
	}

	c.enter(protected)

	for _, in := range c.crowds {
		in.open--
	}

	c.crowds = nil

	if own := l.networks[c.network]; own != nil && own.open == 0 {
		delete(l.networks, c.network)
	}
}

// conn is a connection that gives its place back when it is closed.
type conn struct {
	net.Conn

	listener *Listener
	network  string
	reserved bool // does not change after Accept

	// What follows belongs to the listener's lock.
	place  *list.Element // in the reserve
	crowds []*crowd      // those that count it; none in the reserve and after it was removed
	kind   kind
	queued []*list.Element // its places among its kind, one for each crowd
}

// enter notes what the connection does now: it is the youngest of its kind.
func (c *conn) enter(next kind) {
	for i, element := range c.queued {
		c.crowds[i].kinds[c.kind].Remove(element)
	}

	c.kind, c.queued = next, c.queued[:0]

	if next != protected {
		for _, in := range c.crowds {
			c.queued = append(c.queued, in.kinds[next].PushBack(c))
		}
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()

	return c.Conn.Close()
}

// CloseWrite lets http.Server end its side first, so that the client reads the answer before the connection is reset.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}

	return nil
}

// update changes what a connection does, if it does not have to stay as it is.
func (c *conn) update(next func(now kind) kind) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()

	if len(c.crowds) == 0 {
		return
	}

	if kind := next(c.kind); kind != c.kind {
		c.enter(kind)
	}
}

// connKey is where the context of a request carries its connection.
type connKey struct{}

// ConnContext tells requests their connection; it is for http.Server.ConnContext.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if limited := limitedConn(c); limited != nil {
		return context.WithValue(ctx, connKey{}, limited)
	}

	return ctx
}

// ConnState follows connections from request to request; it is for http.Server.ConnState. A connection of HTTP/2 counts as
// one request as long as it has any.
func ConnState(c net.Conn, state http.ConnState) {
	limited := limitedConn(c)
	if limited == nil {
		return
	}

	switch state {
	case http.StateActive:
		limited.update(func(kind) kind { return unproven })
	case http.StateIdle:
		limited.update(func(kind) kind { return idle })
	case http.StateNew, http.StateHijacked, http.StateClosed: // it is new already, stays as it is, or is closed by Close
	}
}

// limitedConn is the connection of a Listener behind one of an http.Server, or nil.
func limitedConn(c net.Conn) *conn {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok { // a *tls.Conn
		c = secured.NetConn()
	}

	limited, _ := c.(*conn)

	return limited
}

// Reserved reports whether a request came by a connection in the reserve.
func Reserved(ctx context.Context) bool {
	c, ok := ctx.Value(connKey{}).(*conn)

	return ok && c.reserved
}

// Prove notes that the caller of a request has proven who it is: the connection is not closed for another one until the
// request is over.
func Prove(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.update(func(now kind) kind {
			if now == idle || now == silent { // a request of HTTP/2 that is over
				return now
			}

			return protected
		})
	}
}

// Work notes that a request was admitted and has arrived: until Answer the client has nothing to do, whoever it is.
func Work(ctx context.Context) { replace(ctx, unproven, working) }

// Answer notes that the client has to take an answer now.
func Answer(ctx context.Context) { replace(ctx, working, unproven) }

// Stream notes that the answer to a request is a stream, which lasts.
func Stream(ctx context.Context) { replace(ctx, working, streaming) }

// replace changes what the connection of a request does, if it does something.
func replace(ctx context.Context, something, next kind) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.update(func(now kind) kind {
			if now == something {
				return next
			}

			return now
		})
	}
}
