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

// recovered answers a message that makes its handler panic with an error. The SDK runs handlers in goroutines of its own, where a panic
// would end the whole server.
func recovered(logger *slog.Logger) mcpsdk.Middleware {
	return func(next mcpsdk.MethodHandler) mcpsdk.MethodHandler {
		return func(ctx context.Context, method string, request mcpsdk.Request) (result mcpsdk.Result, err error) {
			defer func() {
				if cause := recover(); cause != nil {
					logger.ErrorContext(ctx, "panic in an MCP call", "method", method, "cause", cause, "stack", string(debug.Stack()))

					result, err = nil, errInternal
				}
			}()

			// The SDK (1.8.0) panics when it adds defaults to null. Leaving arguments out means the same.
			if call, ok := request.(*mcpsdk.CallToolRequest); ok && bytes.Equal(bytes.TrimSpace(call.Params.Arguments), []byte("null")) {
				call.Params.Arguments = nil
			}

			return next(ctx, method, request)
		}
	}
}
