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
	// headerTimeout limits how long a request's header may take to arrive; the API limits bodies per request.
	headerTimeout = 10 * time.Second
	// idleTimeout is how long a connection is kept for another request.
	idleTimeout = 60 * time.Second
	// maxHeaderBytes is the size of the largest request header.
	maxHeaderBytes = 64 << 10
	// writeTimeout limits how long a client may leave written data unread; the API applies it to each piece of a response.
	writeTimeout = 20 * time.Second
	// networkShare limits one network to 1/networkShare of the connections.
	networkShare = 2
	// probeConnections are reserved for health checks when the connection limit is reached.
	probeConnections = 16
)

func (a *App) newHTTP(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		HTTP2: &http.HTTP2Config{WriteByteTimeout: writeTimeout}, ConnContext: limit.ConnContext, ConnState: limit.ConnState,
		ErrorLog: log.New(httpLog{a}, "", 0), TLSConfig: a.tls,
	}
}

// serveHTTP starts answering requests: at first only probes, because the parts behind other paths do not exist yet.
func (a *App) serveHTTP() {
	starting := api.NewStartupHandler(a.logger)
	a.http = a.newHTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.started.Load() {
			a.handler.ServeHTTP(w, r)
		} else {
			starting.ServeHTTP(w, r)
		}
	}))

	// For a start that fails. Otherwise the server is stopped earlier, before what its requests need.
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
		return a.http.Serve(listener)
	}

	return a.http.ServeTLS(listener, "", "")
}

// limited bounds the connections of the HTTP server. One network, even if it is the only one, gets at most half of them.
func (a *App) limited(listener net.Listener) net.Listener {
	most := a.options.Config.System.MaxConnections
	if most == 0 {
		most = limit.DefaultConnections()
	}

	return limit.NewListener(listener, limit.ListenerConfig{
		Connections: most, PerNetwork: max(most/networkShare, 1), Proxies: a.options.Config.System.Proxies(), Reserve: probeConnections,
		Refused: func(remote net.Addr) {
			a.notice.Refused(context.Background(), "connection limit reached, only health checks are answered",
				"max_connections", most, "remote", remote.String())
		},
		Evicted: func(remote net.Addr) {
			a.notice.Refused(context.Background(), "connection limit reached, the oldest idle or unauthenticated connection was closed",
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
