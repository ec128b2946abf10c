package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func suppressedCommand(t *tool) *cobra.Command {
	return listGroup(t, &cobra.Command{
		Use: "suppressed", Short: "Show alerts that were not investigated by themselves",
		Example: "  tarsy suppressed\n  tarsy suppressed investigate 94e9e51a62a9",
	}, &cobra.Command{
		Short:   "List suppressed alerts with the reason, latest first",
		Example: "  tarsy suppressed list\n  tarsy suppressed list --reason silence --severity critical\n  tarsy suppressed list --session 5f3a9c21 --all -o json",
	}, listingSuppressed, investigateCommand(t))
}

// listingSuppressed sets up cmd to list suppressed alerts.
func listingSuppressed(t *tool, cmd *cobra.Command) {
	r := newList(t, cmd)

	var filter client.SuppressedFilter

	flags := cmd.Flags()
	flags.StringVar(&filter.Reason, "reason", "", "only this reason: duplicate, storm, silence, maintenance, resolved")
	flags.StringVar(&filter.Severity, "severity", "", "only this severity: critical, high, warning, info")
	flags.StringVar(&filter.SessionID, "session", "", "only alerts that this session counts")
	flags.StringVar(&filter.Search, "search", "", "only alerts whose title contains this")
	r.completeFromServer(cmd, "session", newestSessions)
	runList(r, cmd, "alerts", client.ListSuppressed, &filter, &filter.SessionID, view[tarsy.SuppressedAlert]{
		none: "No suppressed alerts found.",
		name: func(a tarsy.SuppressedAlert) string { return a.ID },
		columns: []column{
			{name: "ID"}, {name: "REASON"}, {name: "SEVERITY", optional: true}, {name: "COUNT"}, {name: "AGE"}, {name: "BY", cut: true, optional: true},
			{name: "TITLE", cut: true},
		},
		row: func(a tarsy.SuppressedAlert) []string {
			by := a.Silence // or the name of a maintenance window

			switch {
			case a.SessionID != nil:
				by = short(*a.SessionID)
			case a.Reason == tarsy.SuppressedSilence:
				by = short(a.Silence)
			}

			return []string{
				short(a.ID), string(a.Reason), string(a.Severity), strconv.FormatInt(a.Occurrences, 10), terminal.Age(time.Since(a.LastAt)), by, a.Title,
			}
		},
	})
}

func investigateCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "investigate ALERT", Short: "Investigate a suppressed alert all the same", Args: namedArgs,
		Long: `Creates a session for the alert, whatever suppressed it, and prints its id. With --wait it follows the session, prints the final
analysis, and exits with code 5 if the session does not complete.`,
		Example: "  tarsy suppressed investigate 94e9e51a62a9 --wait",
	}
	s := &submission{remote: newRemote(t, cmd)}
	cmd.Flags().BoolVarP(&s.wait, "wait", "w", false, "follow the session until it ends and print the final analysis")

	s.offerIDs(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		return offerList(client.List(ctx, c, client.ListSuppressed, client.SuppressedFilter{}, offered), func(a tarsy.SuppressedAlert) cobra.Completion {
			return cobra.CompletionWithDesc(short(a.ID), terminal.Line(a.Title)+", "+string(a.Reason))
		})
	})

	s.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := c.ResolveSuppressed(ctx, args[0])
		if err != nil {
			return err
		}

		accepted, err := client.Call(ctx, c, client.InvestigateSuppressed, nil, id)
		if err != nil {
			return err
		}

		return s.finish(ctx, c, accepted)
	})

	return cmd
}
