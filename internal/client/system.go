package client

import (
	"context"
	"io"
	"time"

	"tarsy.dev/tarsy"
)

// ServerHealth is the health of a server.
type ServerHealth struct {
	Status   string    `json:"status"`
	Version  string    `json:"version"`
	ServerID string    `json:"server_id"`
	Warnings []Warning `json:"warnings"`
}

// Warning is a problem that a server reports.
type Warning struct {
	Category string `json:"category"`
	Message  string `json:"message"`
}

// Document returns the body of a GET request unchanged.
func (c *Client) Document(ctx context.Context, path string) ([]byte, error) {
	request, err := c.request(ctx, "GET "+path, nil, nil, nil)
	if err != nil {
		return nil, err
	}

	response, err := c.answer(request)
	if err != nil {
		return nil, err
	}

	defer func() { _ = response.Body.Close() }()

	return io.ReadAll(reader{response.Body, c.Server()})
}

// ProviderFilter selects LLM providers: those that a re-run can choose, the default one first, or all.
type ProviderFilter struct {
	For string `query:"for"`
}

// Provider is an LLM provider of the server.
type Provider struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Model string `json:"model"`
}

// ReloadOptions make a server reload its configuration files, or only report what would change.
type ReloadOptions struct {
	DryRun bool `query:"dry_run"`
}

// ConfigReload is the result of a reload of the server's configuration.
type ConfigReload struct {
	Applied         bool           `json:"applied"`
	Changes         []ConfigChange `json:"changes"`
	RestartRequired bool           `json:"restart_required"`
	Warnings        []string       `json:"warnings"`
}

// ConfigChange is one changed setting, with secrets hidden. Old is nil if it was added, New if it was removed.
type ConfigChange struct {
	Path        string  `json:"path"`
	Change      string  `json:"change"`
	Old         *string `json:"old"`
	New         *string `json:"new"`
	TakesEffect string  `json:"takes_effect"`
}

// NewPause pauses one kind of work on all servers, or changes its pause. Without a duration, such as 30m, it lasts
// until it is resumed.
type NewPause struct {
	Reason   string `json:"reason,omitempty"`
	Duration string `json:"duration,omitempty"`
}

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

// AuditFilter selects rows of the audit log. Empty fields match everything; times are RFC 3339.
type AuditFilter struct {
	Actor      string `query:"actor"`
	Action     string `query:"action"`
	TargetType string `query:"target_type"`
	TargetID   string `query:"target_id"`
	Since      string `query:"since"`
	Until      string `query:"until"`
	// Order is empty for the newest first, or OldestFirst.
	Order string `query:"order"`
}

// OldestFirst is the order in which the rows of the audit log were written.
const OldestFirst = "oldest"
