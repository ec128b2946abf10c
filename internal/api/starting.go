package api

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/internal/requestid"
)

// NewStartupHandler returns the handler for requests while the server waits for its database or migrates it: /livez, so that a process
// that is only waiting is not restarted, and 503 for everything else.
func NewStartupHandler(logger *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, r *http.Request) {
		ignoreBody(w, r)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "no-store")

		if err := json.NewEncoder(w).Encode(alive{Status: "ok"}); err != nil {
			logger.DebugContext(r.Context(), "answer not delivered", "error", err)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		ignoreBody(w, r)
		problem.Write(w, r, logger, tarsy.Errorf(tarsy.CodeUnavailable,
			"The server is starting: it waits for its database or brings it up to date. Try again later."))
	})

	return requestid.Middleware(mux)
}
