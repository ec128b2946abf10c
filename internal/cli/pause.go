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

func pauseCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "pause intake|claiming", Short: "Pause new alerts or the start of sessions, on all servers", GroupID: groupClient, Args: namedArgs,
		Long: `intake refuses alerts, re-runs and webhooks with 503; senders such as Alertmanager retry. claiming accepts them and lets them wait: no server
starts or continues a session that it does not run already. Sessions that run continue to their end, and cancellations work. A pause that
exists already is changed.`,
		Example:   "  tarsy pause intake --reason \"database upgrade\" --for 30m\n  tarsy pause claiming\n  tarsy resume all",
		ValidArgs: kindNames(),
	}
	r := newRemote(t, cmd)

	var (
		reason string
		length time.Duration
	)

	cmd.Flags().StringVar(&reason, "reason", "", "why, for others")
	cmd.Flags().DurationVar(&length, "for", 0, "after how long it resumes by itself, such as 30m (default: never)")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		kinds, err := pauseKinds(args[0])
		if err != nil || len(kinds) > 1 {
			return usageError{fmt.Errorf("%q cannot be paused: choose intake or claiming", terminal.Line(args[0]))}
		}

		if length < 0 {
			return usageError{errors.New("--for must be a time such as 30m")}
		}

		pause := client.NewPause{Reason: reason}
		if length > 0 {
			pause.Duration = length.String()
		}

		paused, err := client.Call(ctx, c, client.Pause, pause, string(kinds[0]))
		if err != nil {
			return err
		}

		return r.report(paused, "", "%s Resume it with: tarsy resume %s", describePause(paused), paused.Kind)
	})

	return cmd
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

	return nil, fmt.Errorf("%q cannot be resumed: choose intake, claiming or all", terminal.Line(name))
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
