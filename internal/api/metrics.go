package api

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"
)

func (s *Server) addMetrics() {
	s.addPlain(huma.Operation{
		OperationID: "metrics", Method: http.MethodGet, Path: "/metrics", Summary: "Metrics for Prometheus",
		Description: "What this server does and how the queue is; docs/metrics.md lists the names.",
		Responses: map[string]*huma.Response{strconv.Itoa(http.StatusOK): {
			Description: "The text format of Prometheus",
			Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, later(&s.metrics))
}
