// Package requestid assigns IDs to HTTP requests, so that what a caller saw, its problem and the log records can be correlated.
// It knows nothing of what requests do.
package requestid

import (
	"context"
	"log/slog"
	"net/http"
	"strings"

	"tarsy.dev/tarsy/internal/ident"
)

// Header contains the ID, in requests and in responses.
const Header = "X-Request-ID"

// longest is how many characters of a caller's ID are kept.
const longest = 128

type contextKey struct{}

// From returns the ID of the request that ctx belongs to, or "" if there is none.
func From(ctx context.Context) string {
	id, _ := ctx.Value(contextKey{}).(string)

	return id
}

// Middleware assigns each request the ID sent by its caller or a proxy, or a new one, and sends it in the response.
func Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := clean(r.Header.Get(Header))
		if id == "" {
			id = ident.New()
		}

		w.Header().Set(Header, id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, id)))
	})
}

// clean keeps characters that are safe in a log record: anyone can choose the ID.
func clean(sent string) string {
	if len(sent) > longest {
		sent = sent[:longest]
	}

	return strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("-_.:/+=@", c):
			return c
		default:
			return -1
		}
	}, sent)
}

// NewHandler adds the ID of the request to each record that is logged with its context, as request_id.
func NewHandler(next slog.Handler) slog.Handler { return handler{next} }

type handler struct{ slog.Handler }

// Handle implements slog.Handler.
func (h handler) Handle(ctx context.Context, record slog.Record) error {
	if id := From(ctx); id != "" {
		record.AddAttrs(slog.String("request_id", id))
	}

	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
