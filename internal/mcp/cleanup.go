package mcp

import (
	"context"
	"fmt"
	"net/http"
)

// cleanUp tells a server that an execution is over, where the configuration has an address for it. Nothing depends on the
// answer: what goes wrong is logged.
func (f *Factory) cleanUp(of target) {
	config := f.cfg.Servers[of.server].Transport.filled(of.execution)
	if config.CleanupURL == "" || config.Type == TransportStdio || f.cfg.Transport != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.limits.Exit)
	defer cancel()
	// The address was configured like that of the server itself, and gets the same headers.
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
