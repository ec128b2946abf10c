package app

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"time"

	"tarsy.dev/tarsy/internal/api"
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
		ConnContext: limit.ConnContext, ErrorLog: log.New(httpLog{a}, "", 0), TLSConfig: a.tls,
	}
}

// serveHTTP begins to answer requests: at first only probes, because what is behind the other addresses is not there yet.
func (a *App) serveHTTP() {
	starting := api.Starting(a.logger)
	a.http = a.newHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.started.Load() {
			a.handler.ServeHTTP(w, r)
		} else {
			starting.ServeHTTP(w, r)
		}
	}))

	// For a start that fails. Otherwise it is stopped earlier, before what its requests need.
	a.onStop("the HTTP server", a.stopHTTP)
	a.serving.Go(func() {
		if err := a.serve(a.limited(a.listener)); err != nil && !errors.Is(err, http.ErrServerClosed) {
			a.logger.Error("the HTTP server ended", "error", err)
		}
	})
}

// serve answers requests until the HTTP server is shut down.
func (a *App) serve(listener net.Listener) error {
	if a.tls == nil {
		return a.http.Serve(listener) //nolint:wrapcheck // a plain choice
	}

	return a.http.ServeTLS(listener, "", "") //nolint:wrapcheck // the same
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
