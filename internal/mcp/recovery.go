package mcp

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/agent"
)

// kind is why a call failed.
type kind int

const (
	// other is any other error. Such a call is not repeated, which is the safe default.
	other kind = iota
	// answered means that the server replied with a JSON-RPC error.
	answered
	// oversized means that the server replied with a result that was dropped because of its size.
	oversized
	// lost means that the session is broken and a new one may help.
	lost
	// timedOut means that the call's own time limit was reached.
	timedOut
	// unreachable means that no session could be created, so that nothing was sent.
	unreachable
)

// failure is a call without a result.
type failure struct {
	kind kind
	// acted is true if the request may have reached the tool.
	acted bool
	// again is true if the call was sent before, on a session that was lost.
	again   bool
	err     error
	explain func(string) string
}

// mayRepeat implements the rule that a call is repeated only if the first attempt cannot have had an effect.
func (f failure) mayRepeat(tool agent.Tool) bool {
	return f.kind == lost && (tool.ReadOnly || !f.acted)
}

func (f failure) outcomeUnknown(tool agent.Tool) bool {
	return f.acted && !tool.ReadOnly && f.kind != answered && f.kind != oversized
}

// text explains the failure to the model.
func (f failure) text(tool agent.Tool, limit time.Duration, unknown bool) string {
	detail := f.err.Error()
	if wire, ok := errors.AsType[*jsonrpc.Error](f.err); ok && (f.kind == answered || f.kind == oversized) {
		detail = wire.Message // without the method, which is known
	}
	if f.explain != nil && f.kind != timedOut {
		detail = f.explain(detail)
	}
	var text string
	switch f.kind {
	case answered:
		return fmt.Sprintf("The MCP server %q refused the call to %s: %s", tool.Server, tool.WireName(), detail)
	case oversized:
		return fmt.Sprintf("The call to %s was made, but its result cannot be shown: %s. Ask for less.", tool.WireName(), detail)
	case timedOut:
		text = fmt.Sprintf("The call to %s timed out after %s.", tool.WireName(), roundSeconds(limit))
	case unreachable:
		if f.again {
			text = fmt.Sprintf("The connection to the MCP server %q was lost during the call to %s, and the server could not be reached again: %s",
				tool.Server, tool.WireName(), detail)

			break
		}
		text = fmt.Sprintf("The MCP server %q could not be reached, the call to %s was not made: %s",
			tool.Server, tool.WireName(), detail)
	case lost:
		text = fmt.Sprintf("The connection to the MCP server %q was lost during the call to %s: %s",
			tool.Server, tool.WireName(), detail)
	case other:
		text = fmt.Sprintf("The call to %s failed: %s", tool.WireName(), detail)
	}
	if unknown {
		text += "\nThe tool may have taken effect: outcome unknown, check before repeating the call."
	}

	return text
}

// roundSeconds formats a limit for people.
func roundSeconds(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.3gs", d.Seconds())
	}

	return d.String()
}

// Codes of the SDK's own errors. They are not answers of the server.
const (
	codeClientClosing = -32003
	codeServerClosing = -32004
	codeRejected      = -32005
)

// classify returns the kind of a call's error. The order matters: a 404 that refuses the session may carry a JSON-RPC error, which
// would otherwise look like an answer.
func classify(err error, p *probe) kind {
	if p.refused.Load() {
		return lost
	}
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		switch wire.Code {
		case codeTooLarge:
			return oversized
		case codeClientClosing, codeServerClosing, codeRejected:
		default:
			return answered
		}
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return other
	}
	for _, sign := range lostErrors() {
		if errors.Is(err, sign) {
			return lost
		}
	}
	if _, ok := errors.AsType[*net.OpError](err); ok {
		return lost
	}
	for _, sign := range lostTexts() {
		if strings.Contains(err.Error(), sign) {
			return lost
		}
	}

	return other
}

func lostErrors() []error {
	return []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, net.ErrClosed,
		syscall.EPIPE, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED,
		mcpsdk.ErrConnectionClosed, mcpsdk.ErrSessionMissing, errNothingWritten, errNoServer,
	}
}

// refusedConnection reports whether the server did not respond at all, as while it restarts.
func refusedConnection(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, errNoServer)
}

// lostTexts are broken connections that are only recognizable by their text: the SDK and net/http drop the underlying error.
func lostTexts() []string {
	return []string{
		"request terminated without response",
		"failed to read body",
		"failed to reconnect",
		"without progress",
		"server closed idle connection",
	}
}
