package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"tarsy.dev/tarsy"
)

// CreatedKey is a new key with its secret, which is never shown again.
type CreatedKey struct {
	Key string `json:"key"`

	tarsy.APIKey
}

// NewKey is a key to create. It expires unless ExpiresAt is nil, and sees the sessions of all teams unless there are Teams.
type NewKey struct {
	Name      string        `json:"name"`
	Scopes    []tarsy.Scope `json:"scopes"`
	ExpiresAt *time.Time    `json:"expires_at,omitempty"`
	Teams     []string      `json:"teams,omitempty"`
}

// CreateKey makes an API key.
func (c *Client) CreateKey(ctx context.Context, key NewKey) (CreatedKey, error) {
	var created CreatedKey

	err := c.call(ctx, http.MethodPost, "/api/v1/keys", nil, key, &created)

	return created, err
}

// Keys lists the API keys, oldest first.
func (c *Client) Keys(ctx context.Context) ([]tarsy.APIKey, error) {
	var body struct {
		Keys []tarsy.APIKey `json:"keys"`
	}

	err := c.call(ctx, http.MethodGet, "/api/v1/keys", nil, nil, &body)

	return body.Keys, err
}

// RevokeKey revokes a key by its id or prefix.
func (c *Client) RevokeKey(ctx context.Context, idOrPrefix string) (tarsy.APIKey, error) {
	var key tarsy.APIKey

	err := c.call(ctx, http.MethodDelete, "/api/v1/keys/"+url.PathEscape(idOrPrefix), nil, nil, &key)

	return key, err
}
