package api

import (
	"context"
	"net/http"

	"tarsy.dev/tarsy"
)

// logged returns the caller as log attributes: the key, if it is known, and the client address. They never include a secret.
func (c *caller) logged() []any {
	attributes := []any{"remote", c.remote.address}

	key := c.key
	if key == nil {
		key = c.inactive
	}

	if key != nil {
		attributes = append(attributes, "key_id", key.ID, "key_name", key.Name, "key_prefix", key.Prefix, "browser", c.cookie != "")
	}

	if user := c.user(); user != nil {
		return append(attributes, "user", user.Name, "subject", user.Subject, "browser", true)
	}

	if c.named {
		attributes = append(attributes, "user", c.author)
	}

	return attributes
}

// logRefusal logs a request that was answered with 401 or 403, and its caller.
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

	s.refusals.log(r.Context(), who, s.clock.Now(), message, attributes)
}

// keyState returns why a key is not accepted.
func keyState(key tarsy.APIKey) string {
	if key.RevokedAt != nil {
		return "revoked"
	}

	return "expired"
}

// noteRefusal keeps the code of a handler's error for the access log.
func noteRefusal(ctx context.Context, err error) {
	if who, ok := ctx.Value(callerKey{}).(*caller); ok {
		who.refused = tarsy.CodeOf(err)
	}
}
