package mcpserver

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/client"
)

// StdioConfig configures ServeStdio.
type StdioConfig struct {
	// Client reaches the server, with the key of the user who runs the command.
	Client  *client.Client
	Version string
	Logger  *slog.Logger
	// In and Out carry one message per line.
	In  io.Reader
	Out io.Writer
}

const stdioKeyHint = "set the environment variable TARSY_TOKEN to an API key in the configuration of the program that starts tarsy mcp; " +
	"tarsy keys create makes one"

// ServeStdio serves one program until it closes In or ctx is done.
func ServeStdio(ctx context.Context, cfg StdioConfig) error {
	server := newServer(cfg.Version, cfg.Logger, func(context.Context) (caller, error) {
		return caller{client: cfg.Client, page: cfg.Client.SessionPage, gone: ctx, keyHint: stdioKeyHint}, nil
	})

	err := server.Run(ctx, &mcpsdk.IOTransport{Reader: io.NopCloser(cfg.In), Writer: unclosed{cfg.Out}})
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("serve MCP on stdio: %w", err)
	}

	return nil
}

// unclosed is a writer that is owned by the caller and not closed.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
