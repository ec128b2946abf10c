package mcp

import (
	"context"
	"fmt"
	"net/http"
)

// cleanUp notifies a server that an execution is over, if an address for it is configured. Nothing depends on the response; errors are
// logged.
func (f *Factory) cleanUp(of target) {
	config := f.cfg.Servers[of.server].Transport.filled(of.execution)
	if config.CleanupURL == "" || config.Type == TransportStdio || f.cfg.Transport != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.limits.Exit)
	defer cancel()
	// The address comes from the same configuration as the server's own, and gets the same headers.
	config.URL = config.CleanupURL
	side, err := newEdge(ctx, config, f.limits.MessageBytes)
	if err == nil {
		defer side.base.CloseIdleConnections()
		err = side.delete(ctx)
	}
	if err != nil {
		text := err.Error()
		if side != nil {
			text = side.hide(text)
		}
		f.logger.Warn("could not clean up an mcp session", "mcp_server", of.server, "execution_id", of.execution, "error", text)
	}
}

func (e *edge) delete(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, e.config.URL, nil)
	if err != nil {
		return fmt.Errorf("make request: %w", err)
	}
	resp, err := (&http.Client{Transport: e}).Do(req)
	if err != nil {
		return fmt.Errorf("send request: %w", err)
	}
	if err := resp.Body.Close(); err != nil {
		return fmt.Errorf("close answer: %w", err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the server answered %s", resp.Status)
	}

	return nil
}
