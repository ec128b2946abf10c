package cli

import (
	"context"
	"log/slog"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/mcpserver"
)

func mcpCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "mcp", Short: "Serve TARSy's tools over MCP on stdin and stdout", GroupID: groupClient, Args: namedArgs,
		Long: `Serves tools for AI programs over the Model Context Protocol on stdin and stdout: submit an alert, list and read sessions, ask follow-up
questions, search past investigations and list tasks. AI programs start it themselves; docs/mcp-server.md has what to paste into
their configuration.

The tools call the server of --server with the key of --token, and can do what that key can do: with a key of scope read they cannot
submit or ask. A server also offers the same tools at /mcp, over HTTP.`,
		Example: `  tarsy mcp
  TARSY_SERVER=https://tarsy.example TARSY_TOKEN=tarsy_… tarsy mcp
  claude mcp add tarsy --env TARSY_TOKEN=tarsy_… -- tarsy mcp --server https://tarsy.example`,
	}
	r := &remote{tool: t, connection: connectionFlags(cmd)}

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		return mcpserver.ServeStdio(ctx, mcpserver.StdioConfig{
			Client: c, Version: buildVersion().Version, Logger: slog.New(slog.NewTextHandler(t.Stderr, nil)), In: t.Stdin, Out: t.Stdout,
		})
	})

	return cmd
}
