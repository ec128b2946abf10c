package mcp

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/agent"
)

// protocolVersion is what sessions ask for. Newer versions begin with a request that older servers have never heard of,
// and some of those exit on any first request that is not "initialize".
const protocolVersion = "2025-11-25"

// maxTools bounds the tool list of one server, which a server could otherwise go on paging for ever.
const maxTools = 1000

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
}

// A target is the server that a session is with, and the execution that it is for.
type target struct{ server, execution string }

// dial connects to a server and does what first says, all within limit. The session outlives ctx.
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
	s, err := f.handshake(life, made, first)
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

// handshake returns a session that must be closed, also when it returns an error with it.
func (f *Factory) handshake(
	life context.Context, made *link, first func(context.Context, *mcpsdk.ClientSession) error,
) (*session, error) {
	client, err := f.client.Connect(life, made.transport, &mcpsdk.ClientSessionOptions{ProtocolVersion: protocolVersion})
	if err != nil {
		return nil, err //nolint:wrapcheck // dial says what was being done
	}
	s := &session{client: client, link: made, over: make(chan struct{}), grace: f.limits.Exit}
	go func() {
		defer close(s.over)
		// Why it ended is seen by the call that failed.
		_ = client.Wait()
	}()
	if first == nil {
		return s, nil
	}

	return s, first(life, client)
}

// reachError says why a server could not be reached, in words that carry no secret of the configuration.
type reachError struct {
	text  string
	cause error
}

func (e *reachError) Error() string { return e.text }
func (e *reachError) Unwrap() error { return e.cause }

// isOver reports whether the connection is known to be closed: nothing can be sent on it any more.
func (s *session) isOver() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// close says goodbye, for as long as grace allows, cuts the transport off and frees what it holds. It is called once.
func (s *session) close() error {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		// A server that is gone cannot be told; that is no failure of ours.
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

var toolName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// readTools reads the tool list for the first time, and says in the log what is left out of it.
func (f *Factory) readTools(ctx context.Context, id string, client *mcpsdk.ClientSession) ([]agent.Tool, error) {
	tools, left, err := f.listTools(ctx, id, client)
	for _, name := range left {
		f.logger.WarnContext(ctx, "mcp tool left out: its name cannot be called", "mcp_server", id, "tool", f.received(id, short(name)))
	}

	return tools, err
}

// listTools reads the whole tool list of a server, masked and ordered by name, and the names that cannot be called.
func (f *Factory) listTools(ctx context.Context, id string, client *mcpsdk.ClientSession) (tools []agent.Tool, left []string, err error) {
	if caps := client.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil, nil
	}
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			return nil, left, fmt.Errorf("list tools: %w", err)
		}
		if len(tools)+len(left) == maxTools {
			return nil, nil, fmt.Errorf("list tools: more than %d tools", maxTools)
		}
		if !toolName.MatchString(tool.Name) || f.received(id, tool.Name) != tool.Name {
			left = append(left, tool.Name)

			continue
		}
		tools = append(tools, agent.Tool{
			Server:      id,
			Name:        tool.Name,
			Description: f.received(id, tool.Description),
			Schema:      f.schemaOf(id, tool),
			ReadOnly:    tool.Annotations != nil && tool.Annotations.ReadOnlyHint,
		})
	}
	slices.SortStableFunc(tools, func(a, b agent.Tool) int { return strings.Compare(a.Name, b.Name) })

	return slices.CompactFunc(tools, func(a, b agent.Tool) bool { return a.Name == b.Name }), left, nil
}
