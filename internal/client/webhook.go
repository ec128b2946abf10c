package client

import (
	"bytes"
	"context"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"tarsy.dev/tarsy"
)

// Webhook is a receiver of a server.
type Webhook struct {
	Source string `json:"source"`
	Name   string `json:"name"`
	Path   string `json:"path"`
	// URL is empty if the server does not know where it is reached.
	URL string `json:"url,omitempty"`
	// Auth is api_key, token or signature.
	Auth string `json:"auth"`
	// The variables of the server with the token and with the secret of the signature; empty if the receiver has none.
	TokenEnv  string `json:"token_env,omitempty"`
	SecretEnv string `json:"secret_env,omitempty"`
}

// Webhooks lists the receivers.
func (c *Client) Webhooks(ctx context.Context) ([]Webhook, error) {
	var body struct {
		Receivers []Webhook `json:"receivers"`
	}

	err := c.call(ctx, http.MethodGet, "/api/v1/webhooks", nil, nil, &body)

	return body.Receivers, err
}

// Deliver posts a body to a receiver as its sender would: as it is, with a token or a signature in the header. Without a header, the
// API key is used.
func (c *Client) Deliver(ctx context.Context, source, name string, header http.Header, body []byte) (tarsy.DeliveryResult, error) {
	var result tarsy.DeliveryResult

	ctx, cancel := context.WithTimeout(ctx, requestLimit)
	defer cancel()

	request, err := c.request(ctx, http.MethodPost, "/api/v1/webhooks/"+url.PathEscape(source)+"/"+url.PathEscape(name), nil, nil)
	if err != nil {
		return result, err
	}

	request.Body, request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	request.Header.Set("Content-Type", "application/json")

	if len(header) > 0 {
		request.Header.Del("Authorization")
		maps.Copy(request.Header, header)
	}

	err = c.do(request, &result)

	return result, err
}

// NewSilence is the body that adds a silence. Either EndsAt or Duration is set.
type NewSilence struct {
	Matchers []string `json:"matchers"`
	Reason   string   `json:"reason"`
	StartsAt string   `json:"starts_at,omitempty"`
	EndsAt   string   `json:"ends_at,omitempty"`
	Duration string   `json:"duration,omitempty"`
}

// Silences lists the silences that hold now or later, or all of them.
func (c *Client) Silences(ctx context.Context, all bool) ([]tarsy.Silence, error) {
	var body struct {
		Silences []tarsy.Silence `json:"silences"`
	}

	err := c.call(ctx, http.MethodGet, "/api/v1/silences", url.Values{"all": {strconv.FormatBool(all)}}, nil, &body)

	return body.Silences, err
}

// AddSilence silences alerts.
func (c *Client) AddSilence(ctx context.Context, silence NewSilence) (tarsy.Silence, error) {
	var added tarsy.Silence

	err := c.call(ctx, http.MethodPost, "/api/v1/silences", nil, silence, &added)

	return added, err
}

// EndSilence ends a silence.
func (c *Client) EndSilence(ctx context.Context, id string) (tarsy.Silence, error) {
	var ended tarsy.Silence

	err := c.call(ctx, http.MethodDelete, "/api/v1/silences/"+url.PathEscape(id), nil, nil, &ended)

	return ended, err
}

// SuppressedFilter chooses suppressed alerts. A Limit of zero means all of them.
type SuppressedFilter struct {
	Reason    string
	SessionID string
	Severity  string
	Search    string
	Limit     int
}

// Suppressed goes through the suppressed alerts, latest first, page by page.
func (c *Client) Suppressed(ctx context.Context, filter SuppressedFilter) iter.Seq2[tarsy.SuppressedAlert, error] {
	return pages(filter.Limit, func(left int, cursor string) ([]tarsy.SuppressedAlert, string, error) {
		query := pageQuery(filter.Limit, left, nil)

		for name, value := range map[string]string{
			"reason": filter.Reason, "session_id": filter.SessionID, "severity": filter.Severity, "search": filter.Search, "cursor": cursor,
		} {
			if value != "" {
				query.Set(name, value)
			}
		}

		var page struct {
			Alerts     []tarsy.SuppressedAlert `json:"alerts"`
			NextCursor string                  `json:"next_cursor"`
		}

		err := c.call(ctx, http.MethodGet, "/api/v1/suppressed", query, nil, &page)

		return page.Alerts, page.NextCursor, err
	})
}

// Investigate investigates a suppressed alert.
func (c *Client) Investigate(ctx context.Context, id string) (Accepted, error) {
	var accepted Accepted

	err := c.call(ctx, http.MethodPost, "/api/v1/suppressed/"+url.PathEscape(id)+"/investigate", nil, nil, &accepted)

	return accepted, err
}
