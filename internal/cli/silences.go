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
	return listGroup(t, &cobra.Command{
		Use: "silences", Aliases: []string{"silence"}, Short: "Keep matching alerts from being investigated",
		Example: "  tarsy silences\n  tarsy silences add namespace=staging --for 2h --reason \"load test\"",
	}, &cobra.Command{
		Short:   "List active and future silences",
		Example: "  tarsy silences list\n  tarsy silences list --all -o json",
	}, listingSilences, addSilenceCommand(t), endSilenceCommand(t))
}

// listingSilences sets up cmd to list silences.
func listingSilences(t *tool, cmd *cobra.Command) {
	r := newList(t, cmd)
	all := cmd.Flags().Bool("all", false, "list silences that are over too")

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		silences, err := client.All(client.List(ctx, c, client.ListSilences, client.SilenceFilter{All: *all}, 0))

		return showList(r, silences, err, view[tarsy.Silence]{
			none:    "No silences found.",
			name:    func(s tarsy.Silence) string { return s.ID },
			columns: []column{{name: "ID"}, {name: "STATE"}, {name: "MATCHERS", cut: true}, {name: "AUTHOR", cut: true, optional: true}, {name: "REASON", cut: true}},
			row: func(s tarsy.Silence) []string {
				return []string{short(s.ID), silenceState(s, time.Now()), strings.Join(s.Matchers, ", "), s.Author, s.Reason}
			},
		})
	})
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

		return r.report(added, added.ID, "Silenced until %s. End it earlier with: tarsy silences end %s", added.EndsAt.Local().Format(time.RFC1123), short(added.ID))
	})

	return cmd
}

func endSilenceCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "end SILENCE", Short: "End a silence now", Args: namedArgs, Example: "  tarsy silences end 94e9e51a62a9",
	}
	r := newRemote(t, cmd)
	r.offerIDs(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		return offerList(client.List(ctx, c, client.ListSilences, client.SilenceFilter{}, offered), func(s tarsy.Silence) cobra.Completion {
			return cobra.CompletionWithDesc(short(s.ID), terminal.Line(strings.Join(s.Matchers, ", ")+", "+silenceState(s, time.Now())))
		})
	})

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		id, err := c.ResolveSilence(ctx, args[0])
		if err != nil {
			return err
		}

		ended, err := client.Call(ctx, c, client.EndSilence, nil, id)
		if err != nil {
			return err
		}

		return r.report(ended, "", "The silence %s is over.", short(ended.ID))
	})

	return cmd
}
