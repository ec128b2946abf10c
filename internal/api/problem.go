package api

import (
	"encoding/json"
	"log/slog"
	"net/http"

	"tarsy.dev/tarsy/internal/problem"
)

// refuse answers with a problem, outside of huma.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem.Write(w, r, s.logger, err)
}

func writeJSON(logger *slog.Logger, w http.ResponseWriter, r *http.Request, status int, mediaType string, body any) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)

	err := encoder.Encode(body)
	if err != nil {
		logger.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}
