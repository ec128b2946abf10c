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

// cancelFlags are the flags of sessions cancel.
type cancelFlags struct {
	filter           *client.Filter
	all, dryRun, yes bool
}

func cancelSessionCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "cancel [SESSION...]", Short: "Cancel queued or running sessions, or an answer in progress",
		Long: `Cancels queued or running sessions. For a finished session it cancels the answer in progress and leaves the session as it is. With --all it
cancels all active sessions, or those that match the filters, which are those of tarsy sessions list; it shows their number and asks first.`,
		Example: `  tarsy sessions cancel 5f3a9c21
  tarsy sessions cancel 5f3a9c21 77ab01c4
  tarsy sessions cancel --all --service db --dry-run
  tarsy sessions cancel --all --label env=staging --yes`,
	}
	r := newRemote(t, cmd)
	flags := &cancelFlags{filter: filterFlags(r, cmd)}
	cmd.Flags().StringSliceVar(&flags.filter.Statuses, "status", nil, "only these statuses: pending, in_progress, cancelling")
	cmd.Flags().BoolVar(&flags.all, "all", false, "cancel all active sessions that match the filters")
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "only report what would be cancelled")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "do not ask")
	r.offerSessions(cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		switch filtered := filtered(cmd); {
		case len(args) > 0 && (flags.all || filtered):
			return usageError{errTwoTargets}
		case len(args) == 0 && !flags.all:
			return usageError{errNoCancelTarget}
		}

		if len(args) == 1 && !flags.dryRun {
			return cancelOne(ctx, r, c, args[0])
		}

		return cancelMany(ctx, r, c, flags, args)
	})

	return cmd
}

// filtered reports whether a filter was given.
func filtered(cmd *cobra.Command) bool {
	for _, name := range []string{"status", "type", "severity", "service", "namespace", "cluster", "team", "fingerprint", "label", "search", "waiting-approval"} {
		if cmd.Flags().Changed(name) {
			return true
		}
	}

	return false
}

func cancelOne(ctx context.Context, r *remote, c *client.Client, part string) error {
	id, err := c.Resolve(ctx, part)
	if err != nil {
		return err
	}

	accepted, err := client.Call(ctx, c, client.CancelSession, nil, id)
	if err != nil {
		return err
	}

	if accepted.Answer != "" {
		return r.report(accepted, accepted.SessionID, "Cancellation of the answer requested; the session stays %s.", accepted.Status)
	}

	return r.report(accepted, accepted.SessionID, "Cancellation requested.")
}

func cancelMany(ctx context.Context, r *remote, c *client.Client, flags *cancelFlags, parts []string) error {
	ids, err := resolveAll(ctx, c, parts)
	if err != nil {
		return err
	}

	if flags.all && !flags.dryRun && !flags.yes {
		would, err := client.Call(ctx, c, client.CancelSessions, client.Cancellation{Filter: flags.filter.Body(), DryRun: true})
		if err != nil {
			return err
		}

		if would.Requested > 0 && !r.confirmed("Cancel %s?", sessionsOf(would)) {
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

	if r.json() {
		return r.printJSON(result)
	}

	return printCancelled(r, result)
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

func printCancelled(r *remote, result tarsy.BulkCancel) error {
	for _, id := range result.SessionIDs {
		if err := r.printf("%s\n", id); err != nil {
			return err
		}
	}

	for _, skipped := range result.Skipped {
		r.infof("%s skipped: %s", terminal.Line(skipped.SessionID), readable(string(skipped.Reason)))
	}

	if result.DryRun {
		r.infof("%s would be cancelled.", sessionsOf(result))
	} else {
		r.infof("Cancellation of %s requested.", sessionsOf(result))
	}

	return nil
}

// confirmed asks a yes/no question. Anything but yes means no.
func (o *output) confirmed(format string, args ...any) bool {
	_, _ = fmt.Fprintf(o.Stderr, format+" [y/N] ", args...)

	answer, err := bufio.NewReader(o.Stdin).ReadString('\n')
	if err != nil && answer == "" {
		o.infof("")
	}

	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	default:
		return false
	}
}
