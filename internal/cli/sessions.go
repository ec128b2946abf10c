package cli

import (
	"cmp"
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
		Use: "sessions", Short: "List, show, cancel and delete sessions", GroupID: groupClient, Args: onlyCommands,
		Long: "Lists sessions, newest first; with --search the best matches first, with what matched in brackets. The id in the list is the end of the whole one; every command takes it.",
		Example: `  tarsy sessions
  tarsy sessions --status in_progress,pending
  tarsy sessions --type pod-oom-killed --search checkout --all -o json
  tarsy sessions show 5f3a9c21
  tarsy sessions cancel 5f3a9c21
  tarsy sessions delete 5f3a9c21`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	var filter client.Filter

	flags := cmd.Flags()
	flags.StringSliceVar(&filter.Statuses, "status", nil, "only these statuses, separated by commas")
	flags.StringVar(&filter.AlertType, "type", "", "only this alert type")
	flags.StringVar(&filter.Search, "search", "", "only sessions whose alert, analysis, summary or error contain these words, the best matches first")
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

	cmd.AddCommand(t.showSession(), t.cancelSession(), t.deleteSession())

	return cmd
}

// shortID is how many characters of an id lists show: the last ones, since ids of one time begin alike.
const shortID = 12

func short(id string) string { return id[max(0, len(id)-shortID):] }

func (t *tool) listSessions(sessions []tarsy.SessionItem) error {
	if len(sessions) == 0 {
		t.sayf("No sessions.")

		return nil
	}

	const summaryWidth = 60

	rows := [][]string{{"ID", "STATUS", "TYPE", "AGE", "TOOK", "COST", "SUMMARY"}}
	if sessions[0].Match != nil {
		rows[0][len(rows[0])-1] = "MATCH"
	}

	for _, s := range sessions {
		took := ""

		switch {
		case s.StartedAt != nil && s.CompletedAt != nil:
			took = terminal.Duration(s.CompletedAt.Sub(*s.StartedAt))
		case s.StartedAt != nil:
			took = terminal.Clock(time.Since(*s.StartedAt))
		}

		said := terminal.Truncate(terminal.Line(cmp.Or(s.ExecutiveSummary, s.ErrorMessage)), summaryWidth)
		if s.Match != nil {
			said = marked(s.Match.Snippet)
		}

		rows = append(rows, []string{
			short(s.ID), readable(string(s.Status)), s.AlertType, terminal.Age(time.Since(s.CreatedAt)), took, cost(s.Usage), said,
		})
	}

	return t.table(rows)
}

// marked is a snippet on one line, with what matched in brackets.
func marked(snippet []tarsy.SnippetPart) string {
	const width = 120

	var line strings.Builder

	for _, part := range snippet {
		text := terminal.Clean(part.Text)
		if part.Match {
			text = "[" + text + "]"
		}

		line.WriteString(text)
	}

	return terminal.Truncate(terminal.Line(line.String()), width)
}

// cost is what tokens cost, as far as it is known: a dash where no price is, and a plus where some are missing. Who used
// nothing has no cost.
func cost(u tarsy.Usage) string {
	switch {
	case u.TotalTokens == 0:
		return ""
	case u.UnpricedTokens == 0:
		return tarsy.FormatUSD(u.CostUSD)
	case u.CostUSD == 0:
		return "—"
	default:
		return tarsy.FormatUSD(u.CostUSD) + "+"
	}
}

func readable(status string) string { return strings.ReplaceAll(status, "_", " ") }

func (t *tool) showSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "Show a session with its stages, its analysis and what was asked", Args: cobra.ExactArgs(1),
		Example: "  tarsy sessions show 5f3a9c21\n  tarsy sessions show 5f3a9c21 -o json | jq -r .final_analysis",
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	t.offerSessions(cmd, connection)

	cmd.RunE = onSession(connection, func(ctx context.Context, c *client.Client, id string) error {
		detail, err := c.Session(ctx, id)
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(detail)
		}

		var timeline client.Timeline

		if detail.Chat != nil {
			if timeline, err = c.Timeline(ctx, id); err != nil {
				return err
			}
		}

		return t.printf("%s", t.describe(detail, timeline.Events))
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

func (t *tool) cancelSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel SESSION", Short: "Cancel a session that waits or runs, or the answer to a question", Args: cobra.ExactArgs(1),
		Long:    "Cancels a session that waits or runs. Of a session that is over it cancels the answer that is being written, and nothing else.",
		Example: "  tarsy sessions cancel 5f3a9c21",
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	t.offerSessions(cmd, connection)

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

func (t *tool) deleteSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete SESSION", Short: "Delete a session that is over", Args: cobra.ExactArgs(1),
		Long:    "Deletes a session that is over. Nobody sees it any more, and nothing brings it back; it does not ask whether you are sure.",
		Example: "  tarsy sessions delete 5f3a9c21",
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	t.offerSessions(cmd, connection)

	cmd.RunE = onSession(connection, func(ctx context.Context, c *client.Client, id string) error {
		if err := c.Delete(ctx, id); err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(map[string]string{"session_id": id})
		}

		t.sayf("Deleted.")

		return t.printf("%s\n", id)
	})

	return cmd
}
