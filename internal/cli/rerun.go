package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) rerun() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rerun SESSION", Short: "Investigate the alert of a session again", GroupID: groupClient, Args: cobra.ExactArgs(1),
		Long: `Hands the alert of a session in again, with its type, runbook and selection of tools, and prints the id of the new session.
The alert is taken as it was stored, that is with its secrets hidden. The old session stays as it is.

With --wait it follows the new session, prints the final analysis, and ends with code 5 if the session did not complete.`,
		Example: "  tarsy rerun 5f3a9c21\n  tarsy rerun 5f3a9c21 --wait",
	}
	s := &submission{tool: t, connection: connectionFlags(cmd), format: outputFlag(cmd)}
	cmd.Flags().BoolVarP(&s.wait, "wait", "w", false, "follow the session to its end and print the final analysis")
	t.offerSessions(cmd, s.connection)

	cmd.RunE = onSession(s.connection, func(ctx context.Context, c *client.Client, id string) error {
		accepted, err := c.Rerun(ctx, id)
		if err != nil {
			return err
		}

		return s.finish(ctx, c, accepted)
	})

	return cmd
}
