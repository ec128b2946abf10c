package cli

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func silencesCommand(t *tool) *cobra.Command {
	return group(&cobra.Command{
		Use: "silences", Short: "Keep matching alerts from being investigated",
		Example: "  tarsy silences list\n  tarsy silences add namespace=staging --for 2h --reason \"load test\"",
	}, listSilencesCommand(t), addSilenceCommand(t), endSilenceCommand(t))
}

func listSilencesCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List active and future silences", Args: namedArgs,
		Example: "  tarsy silences list\n  tarsy silences list --all -o json",
	}
	r := newRemote(t, cmd)
	all := cmd.Flags().Bool("all", false, "list silences that are over too")

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		silences, err := client.All(client.List(ctx, c, client.ListSilences, client.SilenceFilter{All: *all}, 0))

		return showTable(r, silences, err, view[tarsy.Silence]{
			none:    "No silences found.",
			columns: []column{{name: "ID"}, {name: "STATE"}, {name: "MATCHERS", cut: true}, {name: "AUTHOR", cut: true, optional: true}, {name: "REASON", cut: true}},
			row: func(s tarsy.Silence) []string {
				return []string{s.ID, silenceState(s, time.Now()), strings.Join(s.Matchers, ", "), s.Author, s.Reason}
			},
		})
	})

	return cmd
}

func silenceState(s tarsy.Silence, now time.Time) string {
	switch {
	case s.EndedBy != "": // ended already by the server's clock, which may be slightly ahead of this one
		return "ended by " + s.EndedBy
	case now.Before(s.StartsAt):
		return "starts in " + terminal.Age(s.StartsAt.Sub(now))
	case now.Before(s.EndsAt):
		return "ends in " + terminal.Age(s.EndsAt.Sub(now))
	default:
		return "over"
	}
}

var (
	errNoMatcher  = errors.New(`no matcher given: write conditions such as namespace=staging or alertname=~"Disk.*"`)
	errSilenceEnd = errors.New("say until when: --for 2h or --until 2026-11-15T10:00:00Z")
)

func addSilenceCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "add MATCHER...", Short: "Silence alerts for a while",
		Long: `Alerts for which all matchers hold are not investigated while the silence holds. They are listed by tarsy suppressed list.
Matchers are those of Alertmanager (=, !=, =~, !~), on labels and on source, receiver, alert_type, title, severity, service, namespace,
cluster and team.`,
		Example: "  tarsy silences add namespace=staging --for 2h --reason \"load test\"\n  tarsy silences add 'alertname=~\"Disk.*\"' cluster=eu --until 2026-11-15T10:00:00Z --reason \"rack move\"",
	}
	r := newRemote(t, cmd)

	var (
		silence  client.NewSilence
		duration time.Duration
	)

	flags := cmd.Flags()
	flags.StringVar(&silence.Reason, "reason", "", "why, for others")
	flags.DurationVar(&duration, "for", 0, "how long it holds, such as 2h")
	flags.StringVar(&silence.EndsAt, "until", "", "until when it holds, as 2026-11-15T10:00:00Z")
	flags.StringVar(&silence.StartsAt, "from", "", "from when it holds (default: now)")
	cmd.MarkFlagsMutuallyExclusive("for", "until")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		switch {
		case len(args) == 0:
			return usageError{errNoMatcher}
		case duration <= 0 && silence.EndsAt == "":
			return usageError{errSilenceEnd}
		case silence.Reason == "":
			return usageError{errors.New("--reason is missing: tell others why")}
		}

		silence.Matchers = args
		if silence.EndsAt == "" {
			silence.Duration = duration.String()
		}

		added, err := client.Call(ctx, c, client.AddSilence, silence)
		if err != nil {
			return err
		}

		return r.report(added, added.ID, "Silenced until %s. End it earlier with: tarsy silences end %s", added.EndsAt.Local().Format(time.RFC1123), added.ID)
	})

	return cmd
}

func endSilenceCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "end SILENCE", Short: "End a silence now", Args: namedArgs, Example: "  tarsy silences end 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9",
	}
	r := newRemote(t, cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		ended, err := client.Call(ctx, c, client.EndSilence, nil, args[0])
		if err != nil {
			return err
		}

		return r.report(ended, "", "The silence %s is over.", ended.ID)
	})

	return cmd
}
