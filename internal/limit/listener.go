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
	// Connections is the maximum number of open connections.
	Connections int
	// PerNetwork is how many of them one network can have; zero means all.
	PerNetwork int
	// Proxies are peers that connect on behalf of others: PerNetwork does not apply to them.
	Proxies []netip.Prefix
	// Reserve is how many additional connections can be open to answer health checks.
	Reserve int
	// Refused is called when a connection exceeds a limit and no other connection can be evicted. It must not block.
	Refused func(remote net.Addr)
	// Evicted is called when a connection was closed in favor of a new one that exceeds a limit. It must not block.
	Evicted func(remote net.Addr)
}

// Listener limits the open connections of another listener, in total and per network. Accept never waits for a free slot: at a
// limit, the oldest connection that is idle or whose caller is not authenticated is closed. If there is none, the new
// connection enters the reserve, where only health checks are answered, and when the reserve is full, its oldest connection is
// closed. So clients that connect and stay silent, or that send or read slowly, cannot lock others out.
//
// The state of a connection is reported through ConnState, Prove, Work, Answer and Stream.
type Listener struct {
	net.Listener

	cfg ListenerConfig

	mu       sync.Mutex
	all      *connSet            // connections outside the reserve
	networks map[string]*connSet // the same by network, without connections of proxies
	reserve  *list.List          // of *conn, oldest first
}

// NewListener wraps a listener.
func NewListener(inner net.Listener, cfg ListenerConfig) *Listener {
	return &Listener{Listener: inner, cfg: cfg, all: &connSet{}, networks: map[string]*connSet{}, reserve: list.New()}
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
		// Without yielding, many waiting connections would evict each other before their requests are looked at.
		runtime.Gosched()
	}

	return c, nil
}

// networkOf returns the network that a connection counts towards; it is empty for proxies.
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

// admit counts a connection and returns the one to evict for it, if any.
func (l *Listener) admit(c *conn) (evicted *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()

	own, full := l.networks[c.network], false

	switch {
	case own != nil && l.cfg.PerNetwork > 0 && own.open >= l.cfg.PerNetwork:
		evicted, full = own.victim(), true
	case l.all.open >= l.cfg.Connections:
		evicted, full = l.all.victim(), true
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
	c.sets = append(c.sets, l.all)

	if c.network != "" {
		own := l.networks[c.network]
		if own == nil {
			own = &connSet{}
			l.networks[c.network] = own
		}

		c.sets = append(c.sets, own)
	}

	for _, in := range c.sets {
		in.open++
	}

	c.enter(silent)
}

// remove frees the slot of a connection. It is idempotent.
func (l *Listener) remove(c *conn) {
	if c.place != nil {
		l.reserve.Remove(c.place)
		c.place = nil
	}

	c.enter(protected)

	for _, in := range c.sets {
		in.open--
	}

	c.sets = nil

	if own := l.networks[c.network]; own != nil && own.open == 0 {
		delete(l.networks, c.network)
	}
}

// conn is a connection that frees its slot when it is closed.
type conn struct {
	net.Conn

	listener *Listener
	network  string
	reserved bool // does not change after Accept

	// The following fields are guarded by the listener's lock.
	place  *list.Element // in the reserve
	sets   []*connSet    // those that count it; none in the reserve and after removal
	kind   kind
	queued []*list.Element // its list elements within its kind, one per set
}

// enter changes the kind of the connection and makes it the newest of that kind.
func (c *conn) enter(next kind) {
	for i, element := range c.queued {
		c.sets[i].kinds[c.kind].Remove(element)
	}

	c.kind, c.queued = next, c.queued[:0]

	if next != protected {
		for _, in := range c.sets {
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

// CloseWrite lets http.Server close its side first, so that the client can read the response before the connection is reset.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}

	return nil
}

// update changes the kind of a connection that is counted; next returns the new kind.
func (c *conn) update(next func(now kind) kind) {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()

	if len(c.sets) == 0 {
		return
	}

	if kind := next(c.kind); kind != c.kind {
		c.enter(kind)
	}
}

// connKey is the context key for the connection of a request.
type connKey struct{}

// ConnContext adds the connection to the context of its requests; it is for http.Server.ConnContext.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if limited := limitedConn(c); limited != nil {
		return context.WithValue(ctx, connKey{}, limited)
	}

	return ctx
}

// ConnState tracks connections between requests; it is for http.Server.ConnState. An HTTP/2 connection counts as one request
// while any request is active.
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
	case http.StateNew, http.StateHijacked, http.StateClosed: // already counted as new, unaffected, or handled by Close
	}
}

// limitedConn returns the connection of a Listener behind an http.Server's connection, or nil.
func limitedConn(c net.Conn) *conn {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok { // a *tls.Conn
		c = secured.NetConn()
	}

	limited, _ := c.(*conn)

	return limited
}

// Reserved reports whether a request arrived on a connection in the reserve.
func Reserved(ctx context.Context) bool {
	c, ok := ctx.Value(connKey{}).(*conn)

	return ok && c.reserved
}

// Prove records that the caller of a request is authenticated: its connection is not evicted until the request ends.
func Prove(ctx context.Context) {
	if c, ok := ctx.Value(connKey{}).(*conn); ok {
		c.update(func(now kind) kind {
			if now == idle || now == silent { // an HTTP/2 request that has ended
				return now
			}

			return protected
		})
	}
}

// Work records that a request was admitted and fully received: until Answer, the client has nothing to do.
func Work(ctx context.Context) { replace(ctx, unproven, working) }

// Answer records that the server is waiting for the client to read the response.
func Answer(ctx context.Context) { replace(ctx, working, unproven) }

// Stream records that the response is a long-lived stream.
func Stream(ctx context.Context) { replace(ctx, working, streaming) }

// replace changes the kind of a request's connection to next if it is currently something.
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
