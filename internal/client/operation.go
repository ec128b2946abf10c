package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"tarsy.dev/tarsy"
)

const pausesPath = "/api/v1/system/pauses"

// Pauses lists what is paused on all servers.
func (c *Client) Pauses(ctx context.Context) ([]tarsy.Pause, error) {
	var body struct {
		Pauses []tarsy.Pause `json:"pauses"`
	}

	err := c.call(ctx, http.MethodGet, pausesPath, nil, nil, &body)

	return body.Pauses, err
}

// Pause pauses something on all servers, or changes its pause. Zero means that somebody has to resume it.
func (c *Client) Pause(ctx context.Context, kind tarsy.PauseKind, reason string, length time.Duration) (tarsy.Pause, error) {
	var (
		paused tarsy.Pause
		body   struct {
			Reason   string `json:"reason,omitempty"`
			Duration string `json:"duration,omitempty"`
		}
	)

	body.Reason = reason
	if length > 0 {
		body.Duration = length.String()
	}

	err := c.call(ctx, http.MethodPut, pausesPath+"/"+url.PathEscape(string(kind)), nil, body, &paused)

	return paused, err
}

// Resume ends a pause. It is no error if there is none.
func (c *Client) Resume(ctx context.Context, kind tarsy.PauseKind) error {
	return c.call(ctx, http.MethodDelete, pausesPath+"/"+url.PathEscape(string(kind)), nil, nil, nil)
}

// CancelMany requests the cancellation of several sessions, or of those that match a filter if ids is nil.
func (c *Client) CancelMany(ctx context.Context, ids []string, filter Filter, dryRun bool) (tarsy.BulkCancel, error) {
	body := map[string]any{"dry_run": dryRun}

	if ids != nil {
		body["ids"] = ids
	} else {
		body["filter"] = cancelFilter(filter)
	}

	var result tarsy.BulkCancel

	err := c.call(ctx, http.MethodPost, "/api/v1/sessions/cancel", nil, body, &result)

	return result, err
}

// cancelFilter is the part of a filter that sessions which are not over have.
func cancelFilter(f Filter) map[string]any {
	body := map[string]any{}

	for name, value := range map[string]string{
		"status": strings.Join(f.Statuses, ","), "approvals": string(f.Approvals), "alert_type": f.AlertType, "severity": f.Severity,
		"service": f.Service, "namespace": f.Namespace, "cluster": f.Cluster, "team": f.Team, "fingerprint": f.Fingerprint, "search": f.Search,
	} {
		if value != "" {
			body[name] = value
		}
	}

	if len(f.Labels) > 0 {
		body["label"] = f.Labels
	}

	return body
}

// CreatedShare is a share with its secret, which is shown once.
type CreatedShare struct {
	tarsy.Share

	Secret string `json:"secret"`
	// URL is the link, if the server knows where people open the dashboard.
	URL string `json:"url,omitempty"`
}

func sharesPath(sessionID string) string {
	return "/api/v1/sessions/" + url.PathEscape(sessionID) + "/shares"
}

// Share shares a session by a link. Zero means the server's default.
func (c *Client) Share(ctx context.Context, sessionID string, life time.Duration) (CreatedShare, error) {
	body := map[string]string{}
	if life > 0 {
		body["expires_in"] = life.String()
	}

	var created CreatedShare

	err := c.call(ctx, http.MethodPost, sharesPath(sessionID), nil, body, &created)

	return created, err
}

// Shares lists the shares of a session.
func (c *Client) Shares(ctx context.Context, sessionID string) ([]tarsy.Share, error) {
	var body struct {
		Shares []tarsy.Share `json:"shares"`
	}

	err := c.call(ctx, http.MethodGet, sharesPath(sessionID), nil, nil, &body)

	return body.Shares, err
}

// RevokeShare ends a share at once.
func (c *Client) RevokeShare(ctx context.Context, sessionID, id string) (tarsy.Share, error) {
	var revoked tarsy.Share

	err := c.call(ctx, http.MethodDelete, sharesPath(sessionID)+"/"+url.PathEscape(id), nil, nil, &revoked)

	return revoked, err
}
