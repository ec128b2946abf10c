package mcp

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// protocolVersion is the version that sessions request. Newer versions begin with a request that older servers do not know, and some of
// those exit on any first request that is not "initialize".
const protocolVersion = "2025-11-25"

var (
	errClosed    = errors.New("the tools of this execution are closed")
	errTimeLimit = errors.New("time limit reached")
)

// A session is one MCP session and everything that ends with it.
type session struct {
	client *mcpsdk.ClientSession
	link   *link
	// end cuts the transport off.
	end context.CancelCauseFunc
	// over is closed when the connection is.
	over  chan struct{}
	grace time.Duration
	// changed is true if the tool list may have changed since it was read.
	changed atomic.Bool
}

// A target is the server of a session, and the execution that the session is for.
type target struct{ server, execution string }

// dial connects to a server and calls first, all within limit. The session outlives ctx.
func (f *Factory) dial(
	ctx context.Context, to target, limit time.Duration, first func(context.Context, *mcpsdk.ClientSession) error,
) (*session, error) {
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stopCaller := context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })
	timer := f.clock.AfterFunc(limit, func() {
		end(fmt.Errorf("no session within %s: %w", limit, errTimeLimit))
	})

	made, err := f.link(life, to)
	if err != nil {
		timer.Stop()
		stopCaller()
		end(err)

		return nil, err
	}
	s, err := f.handshake(life, to.server, made, first)
	timer.Stop()
	stopCaller()
	if cause := context.Cause(life); cause != nil {
		err = cause
	}
	if err == nil {
		s.end = end

		return s, nil
	}

	text := clean(made.explain(err.Error()))
	end(err)
	if s != nil {
		s.end = end
		err = errors.Join(err, s.close())
	} else {
		err = errors.Join(err, made.release())
	}

	return nil, &reachError{text: text, cause: err}
}

// handshake returns a session that must be closed, even if it also returns an error.
func (f *Factory) handshake(
	life context.Context, serverID string, made *link, first func(context.Context, *mcpsdk.ClientSession) error,
) (*session, error) {
	s := &session{link: made, over: make(chan struct{}), grace: f.limits.Exit}
	client, err := f.newClient(serverID, func() { s.changed.Store(true) }).
		Connect(life, made.transport, &mcpsdk.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		return nil, err
	}
	s.client = client
	go func() {
		defer close(s.over)
		// The failed call reports why it ended.
		_ = client.Wait()
	}()
	if first == nil {
		return s, nil
	}

	return s, first(life, client)
}

// reachError explains why a server could not be reached, without secrets of the configuration.
type reachError struct {
	text  string
	cause error
}

func (e *reachError) Error() string { return e.text }
func (e *reachError) Unwrap() error { return e.cause }

// isOver reports whether the connection is known to be closed: nothing more can be sent on it.
func (s *session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// announces reports whether the server announces changes of its tool list.
func (s *session) announces() bool {
	caps := s.client.InitializeResult().Capabilities

	return caps != nil && caps.Tools != nil && caps.Tools.ListChanged
}

// close ends the session on the server, waiting at most grace, cuts the transport off and releases its resources. It is called once.
func (s *session) close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		// An error is ignored: the server may be gone.
		_ = s.client.Close()
		<-s.over
	}()
	if !within(closed, s.grace) {
		s.end(errClosed)
		if !within(closed, s.grace) {
			return errors.Join(errors.New("the MCP session did not end"), s.link.release())
		}
	}
	s.end(errClosed)

	return s.link.release()
}

func within(done <-chan struct{}, grace time.Duration) bool {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}
