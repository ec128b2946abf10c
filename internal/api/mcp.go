package api

import (
	"bytes"
	"io"
	"net/http"

	"tarsy.dev/tarsy"
)

// mcpLimit is the maximum size of a message: an alert plus the envelope of its call.
const mcpLimit = tarsy.MaxAlertBytes + 64<<10

// serveMCP answers a message. Connecting requires the read role; tools make their own requests, with the permissions of their routes.
func (s *system) serveMCP(w http.ResponseWriter, r *http.Request) {
	r.Body = io.NopCloser(bytes.NewReader(callerOf(r.Context()).body))
	s.mcp.ServeHTTP(w, r)
}
