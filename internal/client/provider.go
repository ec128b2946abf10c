package client

import (
	"context"
	"net/http"
	"net/url"
)

// Provider is an LLM provider of the server.
type Provider struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Model string `json:"model"`
}

// RerunProviders lists the providers that a re-run can choose, the default one first.
func (c *Client) RerunProviders(ctx context.Context) ([]Provider, error) {
	var body struct {
		Providers []Provider `json:"providers"`
	}

	err := c.call(ctx, http.MethodGet, "/api/v1/system/providers", url.Values{"for": {"reruns"}}, nil, &body)

	return body.Providers, err
}
