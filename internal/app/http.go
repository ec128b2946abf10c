package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"tarsy.dev/tarsy/internal/limit"
)

const (
	// headerTimeout is how long the head of a request may take to arrive; the API limits bodies, request by request.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection is kept for another request.
	idleTimeout = 60 * time.Second
	// maxHeaderBytes is the size of the largest head of a request.
	maxHeaderBytes = 64 << 10
	// probeConnections are kept for health checks when the limit on connections is reached.
	probeConnections = 16
)

func (a *App) newHTTP(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ConnContext: limit.ConnContext, ErrorLog: slog.NewLogLogger(a.logger.Handler(), slog.LevelWarn),
	}
}

// limited bounds the connections of the HTTP server.
func (a *App) limited(listener net.Listener) net.Listener {
	most := a.options.Config.System.MaxConnections
	if most == 0 {
		most = limit.DefaultConnections()
	}

	return limit.NewListener(listener, limit.ListenerConfig{
		Connections: most, Reserve: probeConnections,
		Refused: func(remote net.Addr) {
			a.notice.Refused(context.Background(), "connection limit reached, only health checks are answered",
				"max_connections", most, "remote", remote.String())
		},
	})
}

func (a *App) stopHTTP(ctx context.Context) error {
	const patience = 5 * time.Second

	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()

	if err := a.http.Shutdown(ctx); err != nil {
		return errors.Join(err, a.http.Close())
	}

	return nil
}
