package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// Health is how a server is.
type Health struct {
	Status   string    `json:"status"`
	Version  string    `json:"version"`
	ServerID string    `json:"server_id"`
	Warnings []Warning `json:"warnings"`
}

// Warning is something that does not work as it should.
type Warning struct {
	Category string `json:"category"`
	Message  string `json:"message"`
}

// Health asks a server how it is.
func (c *Client) Health(ctx context.Context) (Health, error) {
	var health Health

	err := c.call(ctx, http.MethodGet, "/health", nil, nil, &health)

	return health, err
}

// Document reads what a server answers to a GET, as it is.
func (c *Client) Document(ctx context.Context, path string) ([]byte, error) {
	response, err := c.send(ctx, http.MethodGet, path, nil, nil)
	if err != nil {
		return nil, err
	}

	defer func() { _ = response.Body.Close() }()

	return io.ReadAll(reader{response.Body, c.Server()})
}

// Object reads what a server answers to a GET, whatever it has: its fields, undecoded.
func (c *Client) Object(ctx context.Context, path string, query url.Values) (map[string]json.RawMessage, error) {
	var object map[string]json.RawMessage

	err := c.call(ctx, http.MethodGet, path, query, nil, &object)

	return object, err
}
