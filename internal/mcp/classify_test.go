package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/agent"
)

func TestOnlyBrokenConnectionIsRetryable(t *testing.T) {
	t.Parallel()
	network := func(err error) error {
		return &url.Error{Op: "Post", URL: "http://x", Err: &net.OpError{Op: "read", Net: "tcp", Err: err}}
	}
	for name, c := range map[string]struct {
		err  error
		want kind
	}{
		"the caller cancelled":        {context.Canceled, other},
		"a deadline":                  {context.DeadlineExceeded, other},
		"a network time-out":          {network(os.ErrDeadlineExceeded), other},
		"a time-out of the dialer":    {network(&net.DNSError{IsTimeout: true}), other},
		"the TCP stack gave up":       {network(syscall.ETIMEDOUT), other},
		"refused":                     {network(syscall.ECONNREFUSED), lost},
		"reset":                       {network(syscall.ECONNRESET), lost},
		"aborted":                     {network(syscall.ECONNABORTED), lost},
		"no route":                    {network(syscall.EHOSTUNREACH), lost},
		"no such host":                {network(&net.DNSError{IsNotFound: true}), lost},
		"end of file":                 {io.EOF, lost},
		"end in the middle":           {io.ErrUnexpectedEOF, lost},
		"broken pipe":                 {&os.PathError{Op: "write", Err: syscall.EPIPE}, lost},
		"closed pipe":                 {io.ErrClosedPipe, lost},
		"closed connection":           {net.ErrClosed, lost},
		"closed session":              {mcpsdk.ErrConnectionClosed, lost},
		"unknown session":             {mcpsdk.ErrSessionMissing, lost},
		"parse error":                 {&jsonrpc.Error{Code: jsonrpc.CodeParseError}, answered},
		"invalid request":             {&jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest}, answered},
		"method not found":            {&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound}, answered},
		"invalid params":              {&jsonrpc.Error{Code: jsonrpc.CodeInvalidParams}, answered},
		"internal error of the other": {&jsonrpc.Error{Code: jsonrpc.CodeInternalError}, answered},
		"an error of our own side":    {&jsonrpc.Error{Code: codeClientClosing, Message: "closing"}, other},
		"whatever else":               {errors.New("the moon is full"), other},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := classify(fmt.Errorf("calling: %w", c.err), &probe{})
			require.Equal(t, c.want, got)
			require.Equal(t, c.want == lost, failure{kind: got, acted: true}.mayRepeat(agent.Tool{ReadOnly: true}))
			require.False(t, failure{kind: got, acted: true}.mayRepeat(agent.Tool{}), "a writer that may have acted, never")
		})
	}
}
