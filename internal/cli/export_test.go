package cli

import (
	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/alert"
)

// Root returns the command tree, for the reference in docs/cli.md.
func Root() *cobra.Command { return (&tool{}).root() }

// AlertmanagerSnippet returns the text to paste into alertmanager.yml.
func AlertmanagerSnippet(url, credentials string) string {
	return alert.AlertmanagerConfig(url, credentials)
}
