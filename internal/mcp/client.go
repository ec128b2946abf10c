package mcp

import (
	"context"
	"log/slog"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newClient creates the client of one session. It calls changed when the server announces that its tool list has changed.
func (f *Factory) newClient(serverID string, changed func()) *mcpsdk.Client {
	return mcpsdk.NewClient(&mcpsdk.Implementation{Name: "tarsy", Version: "1"}, &mcpsdk.ClientOptions{
		Logger:       f.logger,
		Capabilities: &mcpsdk.ClientCapabilities{},
		// It would repeat a call on its own.
		MultiRoundTrip:         &mcpsdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcpsdk.ToolListChangedRequest) { changed() },
		ProgressNotificationHandler: func(ctx context.Context, request *mcpsdk.ProgressNotificationClientRequest) {
			f.logProgress(ctx, serverID, request.Params)
		},
	})
}

// logProgress logs a server's progress reports. They do not extend the time limit of the call: a server could otherwise block an
// execution for as long as it likes.
func (f *Factory) logProgress(ctx context.Context, serverID string, report *mcpsdk.ProgressNotificationParams) {
	if report == nil || !f.logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	// The token is the id of the call, if the server returns it unchanged.
	token, _ := report.ProgressToken.(string)
	f.logger.DebugContext(ctx, "progress of an mcp call", "mcp_server", serverID, "call_id", f.received(serverID, short(token)),
		"progress", report.Progress, "total", report.Total, "message", short(f.received(serverID, report.Message)))
}
