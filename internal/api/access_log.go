package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"

	"tarsy.dev/tarsy"
)

// logged is who asks, as log attributes: the key, if it is known, and the address that the request came from. A secret
// is never among them.
func (c *caller) logged() []any {
	attributes := []any{"remote", c.remote}

	key := c.key
	if key == nil {
		key = c.inactive
	}

	if key != nil {
		attributes = append(attributes, "key_id", key.ID, "key_name", key.Name, "key_prefix", key.Prefix, "browser", c.cookie != "")
	}

	return attributes
}

// logRefusal writes down that a request was answered with 401 or 403, and who sent it.
func (s *Server) logRefusal(w http.ResponseWriter, r *http.Request, who *caller) {
	watched, ok := w.(*watchedWriter)
	if !ok || watched.status != http.StatusUnauthorized && watched.status != http.StatusForbidden {
		return
	}

	message := "request refused"
	if r.URL.Path == loginPath && watched.status == http.StatusUnauthorized {
		message = "login failed"
	}

	attributes := append(who.logged(), "method", shown(r.Method), "path", shown(r.URL.Path), "status", watched.status)
	if who.refused != "" {
		attributes = append(attributes, "code", who.refused)
	}

	if who.inactive != nil {
		attributes = append(attributes, "key_state", keyState(*who.inactive))
	}

	s.logger.Log(r.Context(), slog.LevelWarn, message, attributes...)
}

// keyState is why a key is not accepted.
func keyState(key tarsy.APIKey) string {
	if key.RevokedAt != nil {
		return "revoked"
	}

	return "expired"
}

// noteRefusal keeps the code of a handler's error for the log.
func noteRefusal(ctx context.Context, err error) {
	if who, ok := ctx.Value(callerKey{}).(*caller); ok {
		who.refused = tarsy.CodeOf(err)
	}
}

// remote is the address that a request came from. Trusted proxies append the peer that they saw to X-Forwarded-For, so
// the last address there that is not a trusted proxy's is the client's; what stands before it anybody may have written.
func (g *guard) remote(r *http.Request) string {
	if !g.isProxy(r) {
		return r.RemoteAddr
	}

	chain := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	remote := r.RemoteAddr

	for i := len(chain) - 1; i >= 0; i-- {
		address, err := forwardedAddress(chain[i])
		if err != nil {
			break
		}

		remote = address.String()

		if !g.trusted(address) {
			break
		}
	}

	return remote
}

// forwardedAddress reads an entry of X-Forwarded-For, which some proxies write with a port.
func forwardedAddress(text string) (netip.Addr, error) {
	text = strings.TrimSpace(text)

	peer, err := netip.ParseAddrPort(text)
	if err == nil {
		return plainAddress(peer.Addr()), nil
	}

	address, err := netip.ParseAddr(strings.Trim(text, "[]"))

	return plainAddress(address), err //nolint:wrapcheck // what is wrong with it interests nobody
}

func plainAddress(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
