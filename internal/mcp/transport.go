package mcp

import (
	"context"
	"fmt"
	"net/http"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A link is a transport with its cleanup and error handling.
type link struct {
	transport mcpsdk.Transport
	// probed is true if the transport records in probes what happened to a request.
	probed bool
	// release frees the transport's resources once its session is closed.
	release func() error
	// explain adds what is known about the server to the text of a failure, and removes secrets.
	explain func(text string) string
}

// link creates the transport of a new session. Everything about it ends with life.
func (f *Factory) link(life context.Context, to target) (*link, error) {
	if f.cfg.Transport != nil {
		transport, err := f.cfg.Transport(life, to.server)
		if err != nil {
			return nil, fmt.Errorf("make transport: %w", err)
		}
		if _, streamable := transport.(*mcpsdk.StreamableClientTransport); streamable {
			return plainLink(transport, false), nil
		}

		return plainLink(&streamTransport{inner: transport, life: life}, true), nil
	}
	server, ok := f.cfg.Servers[to.server]
	if !ok {
		return nil, fmt.Errorf("no MCP server %q is configured", to.server)
	}
	switch config := server.Transport.filled(to.execution); config.Type {
	case TransportStdio:
		return f.processLink(life, to.server, config), nil
	case TransportHTTP, TransportSSE:
		return httpLink(life, config, f.limits)
	default:
		return nil, fmt.Errorf("transport type %q is not one of stdio, http, sse", config.Type)
	}
}

func plainLink(transport mcpsdk.Transport, probed bool) *link {
	return &link{
		transport: transport,
		probed:    probed,
		release:   func() error { return nil },
		explain:   func(text string) string { return text },
	}
}

func (f *Factory) processLink(life context.Context, serverID string, config Transport) *link {
	process := &processTransport{config: config, grace: f.limits.Exit, abandon: f.cfg.Abandon, limit: f.limits.MessageBytes, logStray: func(line string, size int) {
		f.logger.InfoContext(life, "skipping a line on the stdout of an mcp server: not a message",
			"mcp_server", serverID, "line", short(f.received(serverID, line)), "bytes", size)
	}}
	made := plainLink(&streamTransport{inner: process, life: life}, true)
	made.release = process.stop
	made.explain = func(text string) string {
		return process.explain(text, func(stderr string) string { return f.received(serverID, stderr) })
	}

	return made
}

func httpLink(life context.Context, config Transport, limits Limits) (*link, error) {
	side, err := newEdge(life, config, limits.MessageBytes)
	if err != nil {
		return nil, err
	}
	side.base.IdleConnTimeout = limits.KeepAlive
	client := &http.Client{Transport: side}
	eventSize := limits.MessageBytes + eventBytes
	var transport mcpsdk.Transport = &mcpsdk.SSEClientTransport{Endpoint: config.URL, HTTPClient: client, MaxEventSize: eventSize}
	if config.Type == TransportHTTP {
		// The stream for unsolicited messages can fail by itself; changes of the tool list are found without it.
		transport = &mcpsdk.StreamableClientTransport{
			Endpoint: config.URL, HTTPClient: client, MaxEventSize: eventSize, DisableStandaloneSSE: true,
		}
	}
	made := plainLink(transport, true)
	made.release = func() error {
		side.base.CloseIdleConnections()

		return nil
	}
	made.explain = side.hide

	return made, nil
}
