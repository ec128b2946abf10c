package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

var (
	errNoAssignee = errors.New(`name the assignee with --to; --to me is you, and --to "" is nobody`)
	errNoTags     = errors.New("name the tags with --add and --remove")
)

func acknowledgeSessionsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ack SESSION...", Short: "Acknowledge sessions",
		Long:    "Acknowledges sessions, so that others see that somebody looks at them. The first who acknowledges a session is recorded.",
		Example: "  tarsy sessions ack 5f3a9c21\n  tarsy sessions ack 5f3a9c21 77b0e1d4 --assign",
	}
	assign := cmd.Flags().Bool("assign", false, "assign the sessions to yourself too")

	handleSessions(t, cmd, func(change *client.HandlingChange) error {
		change.State = new(tarsy.HandlingAcknowledged)

		if *assign {
			change.Assignee = new(tarsy.AssigneeMe)
		}

		return nil
	})

	return cmd
}

func resolveSessionsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resolve SESSION...", Short: "Mark sessions as resolved",
		Long:    "Marks sessions as resolved. An investigation that still runs is not stopped. To cancel it use tarsy sessions cancel.",
		Example: "  tarsy sessions resolve 5f3a9c21 --note \"restarted the pod\"",
	}
	note := cmd.Flags().String("note", "", "what resolved them")

	handleSessions(t, cmd, func(change *client.HandlingChange) error {
		change.State = new(tarsy.HandlingResolved)

		if cmd.Flags().Changed("note") {
			change.Resolution = note
		}

		return nil
	})

	return cmd
}

func reopenSessionsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reopen SESSION...", Short: "Reopen sessions that are acknowledged or resolved",
		Long:    "Reopens sessions. Who acknowledged and resolved them, and the resolution, are removed; the audit log keeps who did what.",
		Example: "  tarsy sessions reopen 5f3a9c21",
	}

	handleSessions(t, cmd, func(change *client.HandlingChange) error {
		change.State = new(tarsy.HandlingOpen)

		return nil
	})

	return cmd
}

func assignSessionsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "assign SESSION...", Short: "Assign sessions to somebody",
		Example: "  tarsy sessions assign 5f3a9c21 --to me\n  tarsy sessions assign 5f3a9c21 --to ana\n  tarsy sessions assign 5f3a9c21 --to \"\"",
	}
	assignee := cmd.Flags().String("to", "", "assignee; me for yourself, empty to unassign")

	handleSessions(t, cmd, func(change *client.HandlingChange) error {
		if !cmd.Flags().Changed("to") {
			return errNoAssignee
		}

		change.Assignee = assignee

		return nil
	})

	return cmd
}

func tagSessionsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "tag SESSION...", Short: "Add tags to sessions and remove them",
		Long:    "Adds tags to sessions and removes them. The case of a tag is kept, but does not count when tags are compared.",
		Example: "  tarsy sessions tag 5f3a9c21 --add capacity --add \"needs review\" --remove noise",
	}

	var tags client.TagsChange

	cmd.Flags().StringArrayVar(&tags.Add, "add", nil, "a tag to add; can be repeated")
	cmd.Flags().StringArrayVar(&tags.Remove, "remove", nil, "a tag to remove; can be repeated")

	handleSessions(t, cmd, func(change *client.HandlingChange) error {
		if len(tags.Add)+len(tags.Remove) == 0 {
			return errNoTags
		}

		change.Tags = &tags

		return nil
	})

	return cmd
}

// handleSessions sets up cmd to change the handling of the sessions in its arguments.
func handleSessions(t *tool, cmd *cobra.Command, fill func(*client.HandlingChange) error) {
	r := newRemote(t, cmd)
	r.offerSessions(cmd)
	cmd.Args = someSessions

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		var change client.HandlingChange

		if err := fill(&change); err != nil {
			return usageError{err}
		}

		var err error
		if change.IDs, err = resolveAll(ctx, c, args); err != nil {
			return err
		}

		results, err := c.Handle(ctx, change)
		if err != nil {
			return err
		}

		return printHandled(r, results)
	})
}

// someSessions checks that a command has at least one session argument.
func someSessions(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("%w SESSION; usage: %s", errMissingArg, cmd.UseLine())
	}

	return nil
}

// printHandled prints the result for each session. The command fails if one of them failed.
func printHandled(r *remote, results []tarsy.HandlingResult) error {
	var failed error

	for _, result := range results {
		if result.Code != "" {
			failed = tarsy.Errorf(result.Code, "session %s: %s", short(result.SessionID), result.Message)
		}
	}

	if r.json() {
		if err := r.printJSON(results); err != nil {
			return err
		}

		return failed
	}

	for _, result := range results {
		switch {
		case result.Code != "":
			r.infof("%s: %s", short(result.SessionID), terminal.Line(result.Message))
		case result.Changed:
			r.infof("%s: %s", short(result.SessionID), terminal.Line(handled(*result.Handling)))
		default:
			r.infof("%s: %s; nothing changed", short(result.SessionID), terminal.Line(handled(*result.Handling)))
		}
	}

	if failed != nil {
		return reportedError{failed}
	}

	return nil
}

// handled describes the handling of a session in one line.
func handled(h tarsy.Handling) string {
	text := h.Describe()

	if h.Assignee != "" {
		text += ", assigned to " + h.Assignee
	}

	if len(h.Tags) > 0 {
		text += ", tags: " + strings.Join(h.Tags, ", ")
	}

	return text
}

// handlingFlags adds the handling filters of a list.
func handlingFlags(cmd *cobra.Command, filter *client.Filter) {
	flags := cmd.Flags()
	flags.StringSliceVar(&filter.Handling, "handling", nil, "only sessions in these states of handling, separated by commas: open, acknowledged, resolved")
	flags.StringVar(&filter.Assignee, "assignee", "", "only sessions of this assignee; me for yourself")
	flags.StringArrayVar(&filter.Tags, "tag", nil, "only sessions with this tag; can be repeated")

	offer(cmd, "handling", tarsy.HandlingStates())
}

// handlingCell describes the handling of a session in a list. It is empty while the session is open and unassigned.
func handlingCell(h *tarsy.Handling) string {
	if h == nil {
		return ""
	}

	var parts []string

	if h.State != tarsy.HandlingOpen {
		parts = append(parts, string(h.State))
	}

	if h.Assignee != "" {
		parts = append(parts, h.Assignee)
	}

	return strings.Join(parts, ", ")
}

func tagsCell(h *tarsy.Handling) string {
	if h == nil {
		return ""
	}

	return strings.Join(h.Tags, ", ")
}

func handlingStyle(cell string) terminal.Style {
	switch {
	case strings.HasPrefix(cell, string(tarsy.HandlingResolved)):
		return terminal.Green
	case strings.HasPrefix(cell, string(tarsy.HandlingAcknowledged)):
		return terminal.Yellow
	default:
		return terminal.Plain
	}
}

// handling writes the handling of a session.
func (d *description) handling(h *tarsy.Handling) {
	if h == nil {
		return
	}

	d.painted("handling", h.Describe(), handlingStyle(string(h.State)))
	d.row("resolution", h.Resolution)
	d.row("assigned to", h.Assignee)
	d.row("tags", strings.Join(h.Tags, ", "))
}
