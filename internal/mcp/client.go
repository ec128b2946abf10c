package mcp

import (
	"context"
	"log/slog"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newClient makes the client of one session. It calls changed when the server says that its tool list has changed.
func (f *Factory) newClient(serverID string, changed func()) *mcpsdk.Client {
	return mcpsdk.NewClient(&mcpsdk.Implementation{Name: "tarsy", Version: "1"}, &mcpsdk.ClientOptions{
		Logger:       f.logger,
		Capabilities: &mcpsdk.ClientCapabilities{},
		// It would make a call again on its own.
		MultiRoundTrip:         &mcpsdk.MultiRoundTripOptions{Disabled: true},
		ToolListChangedHandler: func(context.Context, *mcpsdk.ToolListChangedRequest) { changed() },
		ProgressNotificationHandler: func(ctx context.Context, request *mcpsdk.ProgressNotificationClientRequest) {
			f.logProgress(ctx, serverID, request.Params)
		},
	})
}

// logProgress logs what a server reports about a call. The time limit of the call stays as it is: a server could otherwise hold an
// execution for as long as it likes.
func (f *Factory) logProgress(ctx context.Context, serverID string, report *mcpsdk.ProgressNotificationParams) {
	if report == nil || !f.logger.Enabled(ctx, slog.LevelDebug) {
		return
	}
	// The token is the id of the call, if the server sends it back as it was.
	token, _ := report.ProgressToken.(string)
	f.logger.DebugContext(ctx, "progress of an mcp call", "mcp_server", serverID, "call_id", f.received(serverID, short(token)),
		"progress", report.Progress, "total", report.Total, "message", short(f.received(serverID, report.Message)))
}
