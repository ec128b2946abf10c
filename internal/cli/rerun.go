package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) rerun() *cobra.Command {
	cmd := &cobra.Command{
		Use: "rerun SESSION", Short: "Submit the alert of a session again", GroupID: groupClient, Args: namedArgs,
		Long: `Submits the alert of a session again, with its type, runbook and tool selection, and prints the id of the new session.
It uses the alert as it was stored, with its secrets masked. The old session does not change.

With --wait it follows the new session, prints the final analysis, and exits with code 5 if the session does not complete.`,
		Example: "  tarsy rerun 5f3a9c21\n  tarsy rerun 5f3a9c21 --wait",
	}
	s := &submission{tool: t, connection: connectionFlags(cmd), format: outputFlag(cmd)}
	cmd.Flags().BoolVarP(&s.wait, "wait", "w", false, "follow the session until it ends and print the final analysis")
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
