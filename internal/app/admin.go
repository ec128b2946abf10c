package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof" // nothing serves the default mux that it registers with
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/internal/requestid"
)

// maxAdminBody is the size of the largest body that the administrative listener reads.
const maxAdminBody = 1 << 10

// serveAdmin starts the administrative listener, if there is one. It requires no key, so only a loopback address is accepted: anyone who
// can reach it can also read the memory of the process.
func (a *App) serveAdmin(ctx context.Context) error {
	address := a.options.Config.System.AdminListen
	if address == "" {
		return nil
	}

	host, _, err := net.SplitHostPort(address)
	if err != nil || !IsLoopback(host) {
		return tarsy.Errorf(tarsy.CodeInvalidRequest,
			"The administrative listener has no authentication and needs a loopback address such as 127.0.0.1:9090 (system.admin_listen, --admin-listen)")
	}

	var listen net.ListenConfig

	a.admin, err = listen.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listen on %s (choose another address with --admin-listen): %w", address, err)
	}

	server := a.newHTTP(a.adminHandler())
	server.TLSConfig = nil  // plain HTTP; TLS belongs to the main listener
	server.WriteTimeout = 0 // a profile takes as long as requested

	a.onStop("the administrative listener", func(ctx context.Context) error {
		const patience = time.Second

		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()

		// Do not wait for a profile that is being taken.
		if server.Shutdown(ctx) != nil {
			return server.Close()
		}

		return nil
	})
	a.serving.Go(func() {
		if err := server.Serve(a.admin); err != nil && !errors.Is(err, http.ErrServerClosed) {
			a.logger.Error("the administrative listener ended", "error", err)
		}
	})

	return nil
}

// adminHandler answers from the start, even while the server waits for its database.
func (a *App) adminHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.metrics.Handler())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /log-level", a.answerLogLevel)
	mux.HandleFunc("PUT /log-level", func(w http.ResponseWriter, r *http.Request) {
		if err := a.readLogLevel(w, r); err != nil {
			problem.Write(w, r, a.logger, err)

			return
		}

		a.answerLogLevel(w, r)
	})

	return requestid.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A web page can make a browser resolve its own name to a loopback address.
		if host, _, err := net.SplitHostPort(r.Host); err != nil || !IsLoopback(host) {
			problem.Write(w, r, a.logger, tarsy.FieldErrorf(tarsy.CodeForbiddenOrigin, "Host", "this listener answers to loopback addresses and localhost only"))

			return
		}

		mux.ServeHTTP(w, r)
	}))
}

// readLogLevel sets the log level from a request.
func (a *App) readLogLevel(w http.ResponseWriter, r *http.Request) error {
	var body api.LogLevel

	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxAdminBody)).Decode(&body); err != nil {
		return tarsy.Errorf(tarsy.CodeInvalidJSON, `the body must be JSON such as {"level":"debug"}`)
	}

	level, err := api.ParseLogLevel(body.Level)
	if err != nil {
		return err
	}

	a.options.LogLevel.Set(level)
	a.logger.Log(r.Context(), max(level, slog.LevelInfo), "log level changed", "to", body.Level)

	return nil
}

func (a *App) answerLogLevel(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")

	if err := json.NewEncoder(w).Encode(api.LogLevel{Level: strings.ToLower(a.options.LogLevel.Level().String())}); err != nil {
		a.logger.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}

// AdminAddr returns the address of the administrative listener; empty if there is none.
func (a *App) AdminAddr() string {
	if a.admin == nil {
		return ""
	}

	return a.admin.Addr().String()
}
