package client

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"tarsy.dev/tarsy"
)

// NewFeedback is the body that gives feedback.
type NewFeedback struct {
	Rating    string `json:"rating"`
	Why       string `json:"why,omitempty"`
	RealCause string `json:"real_cause,omitempty"`
}

func feedbackPath(sessionID string) string {
	return "/api/v1/sessions/" + url.PathEscape(sessionID) + "/feedback"
}

// Feedback lists what people said about a session, the latest change first.
func (c *Client) Feedback(ctx context.Context, sessionID string) ([]tarsy.Feedback, error) {
	var body struct {
		Feedback []tarsy.Feedback `json:"feedback"`
	}

	err := c.call(ctx, http.MethodGet, feedbackPath(sessionID), nil, nil, &body)

	return body.Feedback, err
}

// GiveFeedback says what the caller thinks of a session that has ended, and replaces what they said before.
func (c *Client) GiveFeedback(ctx context.Context, sessionID string, feedback NewFeedback) (tarsy.Feedback, error) {
	var given tarsy.Feedback

	err := c.call(ctx, http.MethodPut, feedbackPath(sessionID), nil, feedback, &given)

	return given, err
}

// WithdrawFeedback removes what the caller said about a session.
func (c *Client) WithdrawFeedback(ctx context.Context, sessionID string) error {
	return c.call(ctx, http.MethodDelete, feedbackPath(sessionID), nil, nil, nil)
}

// Quality counts the conclusions of a period.
func (c *Client) Quality(ctx context.Context, from, to time.Time, by tarsy.QualityBy) (tarsy.Quality, error) {
	var quality tarsy.Quality

	query := url.Values{"from": {from.UTC().Format(time.RFC3339)}, "to": {to.UTC().Format(time.RFC3339)}, "by": {string(by)}}
	err := c.call(ctx, http.MethodGet, "/api/v1/quality", query, nil, &quality)

	return quality, err
}
