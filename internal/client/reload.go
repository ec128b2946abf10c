package client

import (
	"context"
	"net/http"
	"net/url"
)

// ConfigReload is the result of a reload of the server's configuration.
type ConfigReload struct {
	Applied         bool           `json:"applied"`
	Changes         []ConfigChange `json:"changes"`
	RestartRequired bool           `json:"restart_required"`
	Warnings        []string       `json:"warnings"`
}

// ConfigChange is one setting that differs, with secrets hidden. Old is nil if it was added, New if it was removed.
type ConfigChange struct {
	Path        string  `json:"path"`
	Change      string  `json:"change"`
	Old         *string `json:"old"`
	New         *string `json:"new"`
	TakesEffect string  `json:"takes_effect"`
}

// ReloadConfig lets the server read its configuration files again. With dryRun it only reports what would change.
func (c *Client) ReloadConfig(ctx context.Context, dryRun bool) (ConfigReload, error) {
	query := url.Values{}
	if dryRun {
		query.Set("dry_run", "true")
	}

	var result ConfigReload

	err := c.call(ctx, http.MethodPost, "/api/v1/system/config/reload", query, nil, &result)

	return result, err
}
