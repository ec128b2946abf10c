package limit

import (
	"container/list"
	"context"
	"net"
	"sync"
)

// ListenerConfig configures a Listener.
type ListenerConfig struct {
	// Connections is how many connections may be open at once.
	Connections int
	// Reserve is how many more may be open to answer health checks.
	Reserve int
	// Refused is called when a connection exceeds the limit. It must not block.
	Refused func(remote net.Addr)
}

// Listener bounds the open connections of another listener. Accept never waits for a free place: beyond the limit a
// connection enters the reserve, where only health checks are answered, and when the reserve is full the oldest
// connection in it is closed. So clients that connect and stay silent cannot keep a health check out.
type Listener struct {
	net.Listener

	cfg ListenerConfig

	mu      sync.Mutex
	open    int        // connections outside of the reserve
	reserve *list.List // of *conn, oldest first
}

// NewListener wraps a listener.
func NewListener(inner net.Listener, cfg ListenerConfig) *Listener {
	return &Listener{Listener: inner, cfg: cfg, reserve: list.New()}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err //nolint:wrapcheck // http.Server looks at the error
	}

	c := &conn{Conn: inner, listener: l}

	evicted, reserved := l.admit(c)
	if evicted != nil {
		_ = evicted.Close()
	}

	if reserved {
		l.cfg.Refused(inner.RemoteAddr())
	}

	return c, nil
}

// admit counts a connection and returns the one that has to make room for it, if any.
func (l *Listener) admit(c *conn) (evicted *conn, reserved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.open < l.cfg.Connections {
		l.open++

		return nil, false
	}

	if l.reserve.Len() >= l.cfg.Reserve {
		if oldest := l.reserve.Front(); oldest != nil {
			evicted, _ = oldest.Value.(*conn)
			l.reserve.Remove(oldest)
			evicted.place = nil
		}
	}

	c.reserved = true
	c.place = l.reserve.PushBack(c)

	return evicted, true
}

func (l *Listener) release(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()

	switch {
	case !c.reserved:
		l.open--
	case c.place != nil:
		l.reserve.Remove(c.place)
	}
}

// conn is a connection that gives its place back when it is closed.
type conn struct {
	net.Conn

	listener *Listener
	reserved bool          // does not change after Accept
	place    *list.Element // in the reserve; nil if it was evicted. Belongs to the listener's lock
	closed   sync.Once
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.closed.Do(func() { c.listener.release(c) })

	return c.Conn.Close() //nolint:wrapcheck // a plain wrapper
}

// CloseWrite lets http.Server end its side first, so that the client reads the answer before the connection is reset.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite() //nolint:wrapcheck // a plain wrapper
	}

	return nil
}

// reservedKey is where a connection's context carries that it is in the reserve.
type reservedKey struct{}

// ConnContext marks the requests of connections in the reserve; it is for http.Server.ConnContext.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	if secured, ok := c.(interface{ NetConn() net.Conn }); ok { // a *tls.Conn
		c = secured.NetConn()
	}

	if limited, ok := c.(*conn); ok && limited.reserved {
		return context.WithValue(ctx, reservedKey{}, true)
	}

	return ctx
}

// Reserved reports whether a request came by a connection in the reserve.
func Reserved(ctx context.Context) bool { return ctx.Value(reservedKey{}) != nil }
