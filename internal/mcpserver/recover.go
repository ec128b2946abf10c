package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime/debug"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

var errInternal = errors.New("internal error; the log of TARSy has the reason")

// recovered turns a panic of a handler into an error response. The SDK runs handlers in its own goroutines, where a panic would
// crash the server.
func recovered(logger *slog.Logger) mcpsdk.Middleware {
	return func(next mcpsdk.MethodHandler) mcpsdk.MethodHandler {
		return func(ctx context.Context, method string, request mcpsdk.Request) (result mcpsdk.Result, err error) {
			defer func() {
				if cause := recover(); cause != nil {
					logger.ErrorContext(ctx, "panic in an MCP call", "method", method, "cause", cause, "stack", string(debug.Stack()))

					result, err = nil, errInternal
				}
			}()

			// The SDK (1.8.0) panics when it adds defaults to null. Omitting the arguments is equivalent.
			if call, ok := request.(*mcpsdk.CallToolRequest); ok && bytes.Equal(bytes.TrimSpace(call.Params.Arguments), []byte("null")) {
				call.Params.Arguments = nil
			}

			return next(ctx, method, request)
		}
	}
}
