package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) sessions() *cobra.Command {
	cmd := &cobra.Command{
		Use: "sessions", Short: "List, show and cancel sessions", GroupID: groupClient, Args: onlyCommands,
		Long: "Lists sessions, newest first. The id in the list is the end of the whole one; every command takes it.",
		Example: `  tarsy sessions
  tarsy sessions --status in_progress,pending
  tarsy sessions --type pod-oom-killed --search checkout --all -o json
  tarsy sessions show 5f3a9c21
  tarsy sessions cancel 5f3a9c21`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	var filter client.Filter

	flags := cmd.Flags()
	flags.StringSliceVar(&filter.Statuses, "status", nil, "only these statuses, separated by commas")
	flags.StringVar(&filter.AlertType, "type", "", "only this alert type")
	flags.StringVar(&filter.Search, "search", "", "only sessions whose alert, analysis, summary or error contains this")
	flags.IntVar(&filter.Limit, "limit", 20, "how many to list")
	all := flags.Bool("all", false, "list all of them")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if filter.Limit < 1 {
			return usageError{fmt.Errorf("--limit must be at least 1, it is %d", filter.Limit)}
		}

		if *all {
			filter.Limit = 0
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		sessions := []tarsy.SessionItem{}

		for session, err := range c.Sessions(cmd.Context(), filter) {
			if err != nil {
				return err
			}

			sessions = append(sessions, session)
		}

		if format.value == formatJSON {
			return t.printJSON(sessions)
		}

		return t.listSessions(sessions)
	}

	cmd.AddCommand(t.showSession(), t.cancelSession())

	return cmd
}

// shortID is how many characters of an id lists show: the last ones, since ids of one time begin alike.
const shortID = 12

func (t *tool) listSessions(sessions []tarsy.SessionItem) error {
	if len(sessions) == 0 {
		t.sayf("No sessions.")

		return nil
	}

	const summaryWidth = 60

	rows := [][]string{{"ID", "STATUS", "TYPE", "AGE", "TOOK", "SUMMARY"}}

	for _, s := range sessions {
		took := ""

		switch {
		case s.StartedAt != nil && s.CompletedAt != nil:
			took = terminal.Duration(s.CompletedAt.Sub(*s.StartedAt))
		case s.StartedAt != nil:
			took = terminal.Clock(time.Since(*s.StartedAt))
		}

		said := s.ExecutiveSummary
		if said == "" {
			said = s.ErrorMessage
		}

		rows = append(rows, []string{
			s.ID[max(0, len(s.ID)-shortID):], readable(string(s.Status)), s.AlertType, terminal.Age(time.Since(s.CreatedAt)), took,
			terminal.Truncate(terminal.Line(said), summaryWidth),
		})
	}

	return t.table(rows)
}

func readable(status string) string { return strings.ReplaceAll(status, "_", " ") }

func (t *tool) showSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "Show a session with its stages and its analysis", Args: cobra.ExactArgs(1),
		Example: "  tarsy sessions show 5f3a9c21\n  tarsy sessions show 5f3a9c21 -o json | jq -r .final_analysis",
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	cmd.RunE = onSession(connection, func(ctx context.Context, c *client.Client, id string) error {
		detail, err := c.Session(ctx, id)
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(detail)
		}

		return t.printf("%s", t.describe(detail))
	})

	return cmd
}

// onSession runs a command on the session that its argument names.
func onSession(connection *connection, do func(ctx context.Context, c *client.Client, id string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		id, err := c.Resolve(cmd.Context(), args[0])
		if err != nil {
			return err
		}

		return do(cmd.Context(), c, id)
	}
}

// describe is a session for people.
func (t *tool) describe(d tarsy.SessionDetail) string {
	p := t.palette(t.Stdout)

	var out strings.Builder

	row := func(name, text string) {
		if text != "" {
			fmt.Fprintf(&out, "%s%s\n", p.Paint(terminal.Dim, terminal.Pad(name, shortID)), terminal.Line(text))
		}
	}
	part := func(name, text string) {
		if text = strings.TrimSpace(terminal.Clean(text)); text != "" {
			fmt.Fprintf(&out, "\n%s\n%s\n", p.Paint(terminal.Bold, name), text)
		}
	}

	row("session", d.ID)
	row("status", readable(string(d.Status)))
	row("alert type", d.AlertType)
	row("chain", d.ChainID)
	row("author", d.Author)
	row("created", d.CreatedAt.Local().Format(time.RFC1123)) //nolint:gosmopolitan // people read their own clock

	if d.StartedAt != nil && d.CompletedAt != nil {
		row("took", terminal.Duration(d.CompletedAt.Sub(*d.StartedAt)))
	}

	row("early end", d.ConcludedEarly)
	row("error", d.ErrorMessage)

	for _, stage := range d.Stages {
		row(fmt.Sprintf("stage %d", stage.StageIndex), stage.StageName+", "+readable(string(stage.Status)))

		for _, execution := range stage.Executions {
			text := execution.AgentName + ", " + readable(string(execution.Status))
			if execution.ErrorMessage != "" {
				text += ": " + execution.ErrorMessage
			}

			row("  agent", text)
		}
	}

	part("Alert", d.AlertData)
	part("Summary", d.ExecutiveSummary)
	part("Analysis", d.FinalAnalysis)

	return out.String()
}

func (t *tool) cancelSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel SESSION", Short: "Cancel a session that waits or runs", Args: cobra.ExactArgs(1),
		Example: "  tarsy sessions cancel 5f3a9c21",
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	cmd.RunE = onSession(connection, func(ctx context.Context, c *client.Client, id string) error {
		accepted, err := c.Cancel(ctx, id)
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(accepted)
		}

		t.sayf("Cancellation requested.")

		return t.printf("%s\n", accepted.SessionID)
	})

	return cmd
}
