package stream

import (
	"net/http"

	"tarsy.dev/tarsy"
)

// problem is an RFC 9457 body.
type problem struct {
	Type   string     `json:"type"`
	Title  string     `json:"title"`
	Status int        `json:"status"`
	Detail string     `json:"detail"`
	Code   tarsy.Code `json:"code"`
}

// refuse answers a request that does not become a stream.
func refuse(w http.ResponseWriter, status int, code tarsy.Code, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A client that went away while it was being refused needs no answer.
	_, _ = w.Write([]byte(encode(problem{ //nolint:errcheck // see above
		Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail, Code: code,
	})))
}
