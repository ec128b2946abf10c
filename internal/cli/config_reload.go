package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

func reloadConfigCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reload", Short: "Reload the configuration of a running server", Args: namedArgs,
		Long: `The server reads its files again, validates them and applies them, as it does on SIGHUP. Files that are not valid change nothing.
Running sessions keep the recipe that they began with. Settings that need a restart keep their value and are listed.

The command prints what differs and when it takes effect; secrets are hidden. It needs an API key with the scope admin. Where
several servers share a database, it reaches the one that answers.`,
		Example: "  tarsy config reload --dry-run\n  tarsy config reload\n  tarsy config reload -o json",
	}
	r := newRemote(t, cmd)
	dryRun := cmd.Flags().Bool("dry-run", false, "validate the files and print the difference, and apply nothing")

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		result, err := client.Call(ctx, c, client.ReloadConfig, client.ReloadOptions{DryRun: *dryRun})
		if err != nil {
			return err
		}

		if r.json() {
			return t.printJSON(result)
		}

		return printReload(r, result, *dryRun)
	})

	return cmd
}

func printReload(r *remote, result client.ConfigReload, dryRun bool) error {
	for _, warning := range result.Warnings {
		r.infof("warning: %s", warning)
	}

	if len(result.Changes) == 0 {
		r.infof("Nothing has changed.")

		return nil
	}

	rows := make([][]string, len(result.Changes))
	for i, c := range result.Changes {
		rows[i] = []string{c.Change, c.Path, shownValue(c.Old), shownValue(c.New), c.TakesEffect}
	}

	err := r.table([]column{
		{name: "CHANGE"}, {name: "SETTING"}, {name: "OLD", cut: true}, {name: "NEW", cut: true}, {name: "TAKES EFFECT"},
	}, rows)

	r.gap()

	switch {
	case dryRun:
		r.infof("The configuration is valid. Nothing was applied.")
	case result.Applied:
		r.infof("Configuration reloaded.")
	}

	if result.RestartRequired {
		r.infof("Restart the server to apply the settings that need a restart.")
	}

	return err
}

func shownValue(value *string) string {
	if value == nil {
		return "-"
	}

	return *value
}
