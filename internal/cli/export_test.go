package cli

import (
	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/alert"
)

// Root is the tree of commands, for the reference in docs/cli.md.
func Root() *cobra.Command { return (&tool{}).root() }

// AlertmanagerSnippet is what to paste into alertmanager.yml.
func AlertmanagerSnippet(url, credentials string) string {
	return alert.AlertmanagerConfig(url, credentials)
}
