package api

import (
	"context"
	"encoding/json"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/problem"
)

// explain turns any error of a handler into a problem.
func (s *Server) explain(ctx context.Context, err error) *problem.Problem {
	if postgres.IsReadTimeout(err) {
		s.logger.WarnContext(ctx, "read reached its time limit", "error", err)

		return problem.New(tarsy.Errorf(tarsy.CodeQueryTimeout,
			"The query was stopped because it took longer than system.query_timeout. Narrow it, for example to a shorter period, and try again."))
	}

	return problem.Explain(ctx, s.logger, err)
}

// refuse answers with a problem, outside of huma.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	problem.Write(w, r, s.logger, s.explain(r.Context(), err))
}

func (s *Server) writeJSON(w http.ResponseWriter, r *http.Request, status int, mediaType string, body any) {
	w.Header().Set("Content-Type", mediaType)
	w.WriteHeader(status)

	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)

	err := encoder.Encode(body)
	if err != nil {
		s.logger.DebugContext(r.Context(), "answer not delivered", "error", err)
	}
}
