package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

// pauseAll means every kind of pause.
const pauseAll = "all"

func pausesCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pauses", Short: "List what is paused", GroupID: groupClient, Args: namedArgs,
		Example: "  tarsy pauses\n  tarsy pauses -o json",
	}
	r := newList(t, cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		pauses, err := client.All(client.List(ctx, c, client.ListPauses, nil, 0))

		return showList(r, pauses, err, view[tarsy.Pause]{
			none:    "Nothing is paused.",
			columns: []column{{name: "KIND"}, {name: "AUTHOR", cut: true}, {name: "AGE"}, {name: "ENDS IN"}, {name: "REASON", cut: true}},
			row: func(p tarsy.Pause) []string {
				ends := "never"
				if p.EndsAt != nil {
					ends = terminal.Age(time.Until(*p.EndsAt))
				}

				return []string{string(p.Kind), p.Author, terminal.Age(time.Since(p.PausedAt)), ends, p.Reason}
			},
			name: func(p tarsy.Pause) string { return string(p.Kind) },
		})
	})

	return cmd
}

// pauseFlags are the flags of pause.
type pauseFlags struct {
	reason string
	length time.Duration
	cancel bool
	yes    bool
}

var errCancelKind = errors.New("--cancel needs all: what is cancelled must not start again")

func pauseCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause intake|claiming|all", Short: "Pause new alerts or the start of sessions, on all servers", GroupID: groupClient, Args: namedArgs,
		Long: `intake refuses alerts, re-runs and webhooks with 503; senders such as Alertmanager retry. claiming accepts them and lets them wait: no server
starts or continues a session that it does not run already. all pauses both. Sessions that run continue to their end, and cancellations
work; with --cancel, all also cancels every session that has not ended, after it asked. A pause that exists already is changed.
tarsy pauses lists what is paused.`,
		Example:   "  tarsy pause intake --reason \"database upgrade\" --for 30m\n  tarsy pause claiming\n  tarsy pause all --cancel --reason \"wrong model\"\n  tarsy resume all",
		ValidArgs: append(kindNames(), pauseAll),
	}
	r := newRemote(t, cmd)

	var flags pauseFlags

	cmd.Flags().StringVar(&flags.reason, "reason", "", "why, for others")
	cmd.Flags().DurationVar(&flags.length, "for", 0, "after how long it resumes by itself, such as 30m (default: never)")
	cmd.Flags().BoolVar(&flags.cancel, "cancel", false, "with all: also cancel every session that has not ended")
	cmd.Flags().BoolVar(&flags.yes, "yes", false, "with --cancel: do not ask")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		kinds, err := pauseKinds(args[0])

		switch {
		case err != nil:
			return usageError{err}
		case flags.length < 0:
			return usageError{errors.New("--for must be a time such as 30m")}
		case flags.cancel && args[0] != pauseAll:
			return usageError{errCancelKind}
		}

		return pause(ctx, r, c, kinds, flags)
	})

	return cmd
}

// paused is the result of pause all.
type paused struct {
	Pauses []tarsy.Pause `json:"pauses"`
	// Cancelled is nil without --cancel.
	Cancelled *tarsy.BulkCancel `json:"cancelled,omitempty"`
}

// pause pauses the kinds and then cancels what runs, so that nothing starts in between.
func pause(ctx context.Context, r *remote, c *client.Client, kinds []tarsy.PauseKind, flags pauseFlags) error {
	if flags.cancel && !flags.yes {
		would, err := client.Call(ctx, c, client.CancelSessions, client.Cancellation{Filter: client.Filter{}.Body(), DryRun: true})
		if err != nil {
			return err
		}

		if !r.confirmed("Pause everything and cancel %s?", sessionsOf(would)) {
			return errNotPaused
		}
	}

	wanted := client.NewPause{Reason: flags.reason}
	if flags.length > 0 {
		wanted.Duration = flags.length.String()
	}

	result := paused{}

	for _, kind := range kinds {
		one, err := client.Call(ctx, c, client.Pause, wanted, string(kind))
		if err != nil {
			return err
		}

		result.Pauses = append(result.Pauses, one)

		if r.forPeople() {
			r.infof("%s Resume it with: tarsy resume %s", describePause(one), one.Kind)
		}
	}

	if flags.cancel {
		cancelled, err := cancelEverything(ctx, c)
		if err != nil {
			return err
		}

		result.Cancelled = &cancelled
	}

	switch {
	case r.json() && len(kinds) == 1:
		return r.printJSON(result.Pauses[0])
	case r.json():
		return r.printJSON(result)
	case result.Cancelled != nil:
		return printCancelled(r, *result.Cancelled)
	default:
		return nil
	}
}

var errNotPaused = errors.New("nothing was paused or cancelled; answer y to confirm, or use --yes")

// cancelEverything cancels all sessions that have not ended. One request cancels only so many.
func cancelEverything(ctx context.Context, c *client.Client) (tarsy.BulkCancel, error) {
	all := tarsy.BulkCancel{Skipped: []tarsy.SkippedCancel{}, SessionIDs: []string{}}

	for {
		part, err := client.Call(ctx, c, client.CancelSessions, client.Cancellation{Filter: client.Filter{}.Body()})
		if err != nil {
			return all, err
		}

		all.Matched += part.Matched
		all.Requested += part.Requested
		all.Skipped = append(all.Skipped, part.Skipped...)
		all.SessionIDs = append(all.SessionIDs, part.SessionIDs...)

		if !part.More || part.Requested == 0 {
			return all, nil
		}
	}
}

func resumeCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "resume intake|claiming|all", Short: "End a pause", GroupID: groupClient, Args: namedArgs,
		Example: "  tarsy resume claiming\n  tarsy resume all", ValidArgs: append(kindNames(), pauseAll),
	}
	r := newRemote(t, cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		kinds, err := pauseKinds(args[0])
		if err != nil {
			return usageError{err}
		}

		for _, kind := range kinds {
			if _, err := client.Call(ctx, c, client.Resume, nil, string(kind)); err != nil {
				return err
			}
		}

		if r.json() {
			return t.printJSON(map[string][]tarsy.PauseKind{"resumed": kinds})
		}

		for _, kind := range kinds {
			t.infof("Resumed %s.", kind)
		}

		return nil
	})

	return cmd
}

func kindNames() []string {
	names := make([]string, 0, len(tarsy.PauseKinds()))
	for _, kind := range tarsy.PauseKinds() {
		names = append(names, string(kind))
	}

	return names
}

// pauseKinds returns the kinds that an argument selects.
func pauseKinds(name string) ([]tarsy.PauseKind, error) {
	if name == pauseAll {
		return tarsy.PauseKinds(), nil
	}

	for _, kind := range tarsy.PauseKinds() {
		if string(kind) == name {
			return []tarsy.PauseKind{kind}, nil
		}
	}

	return nil, fmt.Errorf("there is no pause %q: choose intake, claiming or all", terminal.Line(name))
}

// describePause describes a pause in a sentence or two.
func describePause(p tarsy.Pause) string {
	until := "until it is resumed"
	if p.EndsAt != nil {
		until = "until " + p.EndsAt.Local().Format(time.RFC1123)
	}

	text := fmt.Sprintf("%s paused %s %s.", terminal.Line(p.Author), p.Kind, until)
	if p.Reason != "" {
		text += " Reason: " + terminal.Line(p.Reason)
	}

	return text
}

// printPauses prints why sessions wait. It only adds to a list that has already been printed, so errors are ignored.
func printPauses(ctx context.Context, r *remote, c *client.Client) {
	pauses, err := client.All(client.List(ctx, c, client.ListPauses, nil, 0))
	if err != nil {
		return
	}

	for _, p := range pauses {
		r.infof("%s", describePause(p))
	}
}
