package mcp

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A probe is in the context of one attempt, and the transport records in it what happened to the request. The SDK's errors do not tell:
// it reports a connection that was reset after the request had been written as "rejected by transport", exactly like one that was never
// opened.
type probe struct {
	// sent is true once the request may have been sent.
	sent atomic.Bool
	// refused is true if the server answered that it does not know the session: it did not process the request.
	refused atomic.Bool
}

type probeKey struct{}

// mayHaveActed reports whether the request may have reached the tool.
func (p *probe) mayHaveActed() bool { return p.sent.Load() && !p.refused.Load() }

func withProbe(ctx context.Context, p *probe) context.Context {
	return context.WithValue(ctx, probeKey{}, p)
}

func probeOf(ctx context.Context) *probe {
	p, _ := ctx.Value(probeKey{}).(*probe)

	return p
}

// errNothingWritten marks a write that wrote no bytes.
var errNothingWritten = errors.New("nothing was written")

// streamTransport wraps a transport that carries messages over one byte stream. Its connections end with life, record in probes what
// was written, and abandon a write when its context is done. The SDK's own stream does not: a server that stopped reading would block
// the caller forever.
//
// Streamable HTTP must not be wrapped: the SDK recognises that connection by a method that a wrapper cannot forward.
type streamTransport struct {
	inner mcpsdk.Transport
	life  context.Context //nolint:containedctx // the life of the session, not of a call
}

// Connect implements mcpsdk.Transport.
func (t *streamTransport) Connect(ctx context.Context) (mcpsdk.Connection, error) {
	inner, err := t.inner.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &streamConn{Connection: inner, turn: make(chan struct{}, 1), closed: make(chan struct{})}
	conn.stopLife = context.AfterFunc(t.life, func() { _ = inner.Close() })

	return conn, nil
}

type streamConn struct {
	mcpsdk.Connection

	stopLife func() bool
	// turn is held by the one write in progress, even after its caller has abandoned it.
	turn   chan struct{}
	once   sync.Once
	closed chan struct{}
}

// Write implements mcpsdk.Connection.
func (c *streamConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	select {
	case c.turn <- struct{}{}:
	case <-c.closed:
		return net.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}

	request, isRequest := msg.(*jsonrpc.Request)
	p := probeOf(ctx)
	observed := p != nil && isRequest && request.IsCall()
	if observed {
		p.sent.Store(true)
	}

	done := make(chan error, 1)
	go func() {
		done <- c.Connection.Write(ctx, msg)
		<-c.turn
	}()

	select {
	case err := <-done:
		if observed && errors.Is(err, errNothingWritten) {
			p.sent.Store(false)
		}

		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close implements mcpsdk.Connection. Closing the stream ends an abandoned write, and Close waits for it.
func (c *streamConn) Close() error {
	err := c.Connection.Close()
	c.once.Do(func() {
		c.stopLife()
		close(c.closed)
		c.turn <- struct{}{}
	})

	return err
}
