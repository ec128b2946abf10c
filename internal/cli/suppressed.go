package cli

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) suppressed() *cobra.Command {
	cmd := &cobra.Command{
		Use: "suppressed", Short: "Show alerts that were not investigated by themselves", GroupID: groupClient, Args: onlyCommands,
		Example: "  tarsy suppressed list\n  tarsy suppressed investigate 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(t.listSuppressed(), t.investigate())

	return cmd
}

func (t *tool) listSuppressed() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List suppressed alerts with the reason, latest first", Args: namedArgs,
		Example: "  tarsy suppressed list\n  tarsy suppressed list --reason silence --severity critical\n  tarsy suppressed list --session 5f3a9c21 --all -o json",
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	var filter client.SuppressedFilter

	flags := cmd.Flags()
	flags.StringVar(&filter.Reason, "reason", "", "only this reason: duplicate, storm, silence, maintenance, resolved")
	flags.StringVar(&filter.Severity, "severity", "", "only this severity: critical, high, warning, info")
	flags.StringVar(&filter.SessionID, "session", "", "only alerts that this session counts")
	flags.StringVar(&filter.Search, "search", "", "only alerts whose title contains this")
	paging := addListFlags(cmd, "alerts")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		limit, err := paging.limit()
		if err != nil {
			return err
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		if filter.SessionID != "" {
			if filter.SessionID, err = c.Resolve(cmd.Context(), filter.SessionID); err != nil {
				return err
			}
		}

		return showList(t, format, client.List(cmd.Context(), c, client.ListSuppressed, filter, limit), t.printSuppressed)
	}

	return cmd
}

func (t *tool) printSuppressed(alerts []tarsy.SuppressedAlert) error {
	if len(alerts) == 0 {
		t.infof("No suppressed alerts found.")

		return nil
	}

	rows := make([][]string, len(alerts))

	for i, a := range alerts {
		session := a.Silence
		if a.SessionID != nil {
			session = short(*a.SessionID)
		}

		rows[i] = []string{
			a.ID, string(a.Reason), string(a.Severity), strconv.FormatInt(a.Occurrences, 10), terminal.Age(time.Since(a.LastAt)), session, a.Title,
		}
	}

	return t.table([]column{
		{name: "ID"}, {name: "REASON"}, {name: "SEVERITY", optional: true}, {name: "COUNT"}, {name: "AGE"}, {name: "BY", cut: true, optional: true},
		{name: "TITLE", cut: true},
	}, rows)
}

func (t *tool) investigate() *cobra.Command {
	cmd := &cobra.Command{
		Use: "investigate ALERT", Short: "Investigate a suppressed alert all the same", Args: namedArgs,
		Long: `Creates a session for the alert, whatever suppressed it, and prints its id. With --wait it follows the session, prints the final
analysis, and exits with code 5 if the session does not complete.`,
		Example: "  tarsy suppressed investigate 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9 --wait",
	}
	s := &submission{tool: t, connection: connectionFlags(cmd), format: outputFlag(cmd)}
	cmd.Flags().BoolVarP(&s.wait, "wait", "w", false, "follow the session until it ends and print the final analysis")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := s.connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		accepted, err := client.Call(cmd.Context(), c, client.InvestigateSuppressed, nil, args[0])
		if err != nil {
			return err
		}

		return s.finish(cmd.Context(), c, accepted)
	}

	return cmd
}
