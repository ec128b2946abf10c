package cassette

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"tarsy.dev/tarsy/internal/mask"
)

// cleaner removes secrets from recordings. Replayed requests are cleaned in the same way, so that they match.
type cleaner struct{ masker *mask.Masker }

func newCleaner() (*cleaner, error) {
	masker, err := mask.New(mask.Config{Default: mask.DefaultRules()})
	if err != nil {
		return nil, fmt.Errorf("prepare to hide secrets: %w", err)
	}

	return &cleaner{masker: masker}, nil
}

// hidden replaces the caller's own keys.
const hidden = "[MASKED_API_KEY]"

// clean hides secrets in a body. JSON stays valid, with its members in order.
func (c *cleaner) clean(data []byte, keys []string) ([]byte, error) {
	text := string(data)
	for _, key := range keys {
		text = strings.ReplaceAll(text, key, hidden)
	}

	masked, err := c.masker.Result("", text)
	if err != nil {
		return nil, fmt.Errorf("hide secrets: %w", err)
	}

	if masked == text || !json.Valid([]byte(text)) || json.Valid([]byte(masked)) {
		return []byte(masked), nil
	}

	tree, err := parseTree([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("hide secrets: %w", err)
	}

	if tree, err = c.cleanTree(tree); err != nil {
		return nil, err
	}

	return appendTree(nil, tree), nil
}

// cleanTree hides secrets in each text separately, for JSON that masking as a whole would break.
func (c *cleaner) cleanTree(tree any) (any, error) {
	var err error

	switch v := tree.(type) {
	case object:
		for i := range v {
			if v[i].value, err = c.cleanTree(v[i].value); err != nil {
				return nil, err
			}
		}
	case list:
		for i := range v {
			if v[i], err = c.cleanTree(v[i]); err != nil {
				return nil, err
			}
		}
	case string:
		masked, err := c.masker.Result("", v)
		if err != nil {
			return nil, fmt.Errorf("hide secrets: %w", err)
		}

		return masked, nil
	}

	return tree, nil
}

// minKey is the minimum length of a key that is replaced in bodies: shorter ones would garble them.
const minKey = 8

// keysOf returns the credentials of a request.
func keysOf(r *http.Request) []string {
	candidates := []string{r.URL.Query().Get("key"), r.URL.Query().Get("access_token")}
	for _, name := range secretHeaders {
		for _, value := range r.Header.Values(name) {
			candidates = append(candidates, value)

			// Bearer, Basic and others precede the secret.
			if _, secret, ok := strings.Cut(value, " "); ok && strings.HasSuffix(name, "Authorization") {
				candidates = append(candidates, secret)
			}
		}
	}

	var keys []string

	for _, key := range candidates {
		if len(key) >= minKey {
			keys = append(keys, key)
		}
	}

	return keys
}

var secretHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Proxy-Authorization"}

// pathOf returns a request's path with its query, sorted and without secrets.
func pathOf(address *url.URL) string {
	query := address.Query()
	query.Del("key")
	query.Del("access_token")

	if len(query) == 0 {
		return address.EscapedPath()
	}

	return address.EscapedPath() + "?" + query.Encode()
}

// safeHeader reports whether a response header may be kept: those that SDKs act on, and none that identifies an account.
func safeHeader(name string) bool {
	switch name {
	case "Content-Type", "Content-Encoding", "Retry-After", "Retry-After-Ms", "X-Should-Retry":
		return true
	default:
		return strings.Contains(name, "-Ratelimit-")
	}
}
