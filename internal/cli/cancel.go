package cli

import (
	"bufio"
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
	errNoCancelTarget = errors.New("say which sessions: ids, or --all with filters such as --service db")
	errTwoTargets     = errors.New("give either ids or --all with filters, not both")
	errNotConfirmed   = errors.New("nothing was cancelled; answer y to confirm, or use --yes")
)

// cancelFlags are those of the command that cancels sessions.
type cancelFlags struct {
	filter           *client.Filter
	all, dryRun, yes bool
}

func (t *tool) cancelSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel [SESSION...]", Short: "Cancel queued or running sessions, or an answer in progress",
		Long: `Cancels queued or running sessions. For a finished session it cancels the answer in progress and leaves the session as it is. With --all it
cancels all active sessions, or those that match the filters, which are those of tarsy sessions list; it shows their number and asks first.`,
		Example: `  tarsy sessions cancel 5f3a9c21
  tarsy sessions cancel 5f3a9c21 77ab01c4
  tarsy sessions cancel --all --service db --dry-run
  tarsy sessions cancel --all --label env=staging --yes`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	flags := &cancelFlags{filter: t.filterFlags(cmd, connection)}
	cmd.Flags().StringSliceVar(&flags.filter.Statuses, "status", nil, "only these statuses: pending, in_progress, cancelling")
	cmd.Flags().BoolVar(&flags.all, "all", false, "cancel all active sessions that match the filters")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "only report what would be cancelled")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask")
	t.offerSessions(cmd, connection)

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch filtered := t.filtered(cmd); {
		case len(args) > 0 && (flags.all || filtered):
			return usageError{errTwoTargets}
		case len(args) == 0 && !flags.all:
			return usageError{errNoCancelTarget}
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		if len(args) == 1 && !flags.dryRun {
			return t.cancelOne(cmd.Context(), c, format, args[0])
		}

		return t.cancelMany(cmd.Context(), c, format, flags, args)
	}

	return cmd
}

// filtered reports whether a filter was given.
func (t *tool) filtered(cmd *cobra.Command) bool {
	for _, name := range []string{"status", "type", "severity", "service", "namespace", "cluster", "team", "fingerprint", "label", "search", "waiting-approval"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}

	return false
}

func (t *tool) cancelOne(ctx context.Context, c *client.Client, format *choice, part string) error {
	id, err := c.Resolve(ctx, part)
	if err != nil {
		return err
	}

	accepted, err := client.Call(ctx, c, client.CancelSession, nil, id)
	if err != nil {
		return err
	}

	if format.value == formatJSON {
		return t.printJSON(accepted)
	}

	if accepted.Answer != "" {
		t.infof("Cancellation of the answer requested; the session stays %s.", accepted.Status)
	} else {
		t.infof("Cancellation requested.")
	}

	return t.printf("%s\n", accepted.SessionID)
}

func (t *tool) cancelMany(ctx context.Context, c *client.Client, format *choice, flags *cancelFlags, parts []string) error {
	var ids []string

	for _, part := range parts {
		id, err := c.Resolve(ctx, part)
		if err != nil {
			return err
		}

		ids = append(ids, id)
	}

	if flags.all && !flags.dryRun && !flags.yes {
		would, err := client.Call(ctx, c, client.CancelSessions, client.Cancellation{Filter: flags.filter.Body(), DryRun: true})
		if err != nil {
			return err
		}

		if would.Requested > 0 && !t.confirmed("Cancel %s?", sessionsOf(would)) {
			return errNotConfirmed
		}
	}

	request := client.Cancellation{IDs: ids, DryRun: flags.dryRun}
	if ids == nil {
		request.Filter = flags.filter.Body()
	}

	result, err := client.Call(ctx, c, client.CancelSessions, request)
	if err != nil {
		return err
	}

	if format.value == formatJSON {
		return t.printJSON(result)
	}

	return t.printCancelled(result)
}

func sessionsOf(result tarsy.BulkCancel) string {
	number, more := fmt.Sprintf("%d sessions", result.Requested), ""
	if result.Requested == 1 {
		number = "1 session"
	}

	if result.More {
		more = ", and more match"
	}

	return number + more
}

func (t *tool) printCancelled(result tarsy.BulkCancel) error {
	for _, id := range result.SessionIDs {
		if err := t.printf("%s\n", id); err != nil {
			return err
		}
	}

	for _, skipped := range result.Skipped {
		t.infof("%s skipped: %s", terminal.Line(skipped.SessionID), readable(string(skipped.Reason)))
	}

	if result.DryRun {
		t.infof("%s would be cancelled.", sessionsOf(result))
	} else {
		t.infof("Cancellation of %s requested.", sessionsOf(result))
	}

	return nil
}

// confirmed asks a question that only a yes confirms.
func (t *tool) confirmed(format string, args ...any) bool {
	_, _ = fmt.Fprintf(t.Stderr, format+" [y/N] ", args...)

	answer, err := bufio.NewReader(t.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		t.infof("")
	}

	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	default:
		return false
	}
}
