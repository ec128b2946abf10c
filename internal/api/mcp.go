package api

import (
	"bytes"
	"io"
	"net/http"

	"tarsy.dev/tarsy"
)

// mcpLimit is the size of the largest message: an alert, and what a call has around it.
const mcpLimit = tarsy.MaxAlertBytes + 64<<10

// serveMCP answers a message. Whoever may read may connect; its tools make requests of their own, which need what their routes need.
func (s *system) serveMCP(w http.ResponseWriter, r *http.Request) {
	r.Body = io.NopCloser(bytes.NewReader(callerOf(r.Context()).body))
	s.mcp.ServeHTTP(w, r)
}
