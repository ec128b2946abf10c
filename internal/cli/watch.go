package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
	"tarsy.dev/tarsy/internal/client"
)

func watchCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch [SESSION]", Short: "Follow a session live", GroupID: groupClient, Args: namedArgs,
		Long: `Follows a session while the agents work: stages, thinking, tool calls with their results, text as it is written, and
the verdict at the end.

In a terminal it shows a screen, or a list to choose from if SESSION is missing. Otherwise, or with --lines or -o json, it
prints events until the session ends, of the newest session if SESSION is missing. With --follow it continues after that and
prints questions and their answers. If the connection is lost it reconnects and continues where it stopped. An id may be
shortened to its beginning or its end.

Agents that run concurrently are shown one below the other, with only their last lines while they work. If a long tool result
was summarized, the summary is shown.

Keys: ↑ ↓ PgUp PgDn scroll · End follow · e expand all · c cancel the session or the answer · Esc back · q quit

While a tool call waits for an approval, a approves it as it is, after a confirmation, and r asks for a reason and rejects it. Of several
calls the first one is decided first.

When the session has ended, the line at the bottom of the screen takes questions: type one and press Enter, and the answer appears on
the screen. ↑ and ↓ then recall earlier questions, and Tab switches between the line and the keys above. Ctrl-C cancels the answer
to a question that was asked here; if there is none, or pressed again, it leaves.`,
		Example: `  tarsy watch
  tarsy watch 5f3a9c21
  tarsy watch --lines | tee investigation.log
  tarsy watch --lines --follow 5f3a9c21
  tarsy watch -o json | jq -r .event_type`,
	}
	r := newRemote(t, cmd)
	r.offerSessions(cmd)

	lines := cmd.Flags().Bool("lines", false, "print lines instead of showing a screen")
	once := cmd.Flags().Bool("once", false, "print the events so far and exit")
	follow := cmd.Flags().Bool("follow", false, "continue after the session ends: print questions and answers until Ctrl-C")
	cmd.MarkFlagsMutuallyExclusive("once", "follow")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		screen := t.isTerminal(t.Stdout) && t.isTerminal(t.Stdin) && !t.dumb() && !*lines && !*once && !r.json()

		var (
			id  string
			err error
		)

		if len(args) > 0 {
			id, err = c.Resolve(ctx, args[0])
		} else if !screen {
			id, err = newest(ctx, c)
		}

		if err != nil {
			return err
		}

		if screen {
			return showScreen(ctx, t, c, id)
		}

		p := &printer{remote: r, client: c, id: id, once: *once, follow: *follow}

		return p.print(ctx)
	})

	return cmd
}

var errNoSessions = tarsy.Errorf(tarsy.CodeSessionNotFound, `no sessions yet; submit an alert with tarsy submit -m "what happened"`)

func newest(ctx context.Context, c *client.Client) (string, error) {
	for session, err := range client.List(ctx, c, client.ListSessions, client.Filter{}, 1) {
		return session.ID, err
	}

	return "", errNoSessions
}

// showScreen shows the session full-screen, and prints its result in the terminal on exit.
func showScreen(ctx context.Context, t *tool, c *client.Client, id string) error {
	session, err := watch.Run(ctx, watch.Options{
		Client: c, SessionID: id, Palette: t.palette(t.Stdout), Columns: t.columns(t.Stdout), In: t.Stdin, Out: t.Stdout, Env: t.Env,
	})
	if err != nil || session == nil {
		return err
	}

	t.infof("%s  %s", watch.Outcome(session, t.palette(t.Stderr)), session.ID)

	if session.Verdict != nil {
		t.infof("%s", watch.Headline(session.Verdict.Outcome, session.Verdict.Cause.Text))
	}

	return nil
}

// printer prints a session as it progresses.
type printer struct {
	*remote

	client *client.Client
	id     string
	once   bool // stop at the current state
	follow bool // continue after the session has ended
}

func (p *printer) print(ctx context.Context) error {
	detail, err := p.client.Session(ctx, p.id)
	if err != nil {
		return err
	}

	lines, session := p.lines(p.Stdout, detail)
	updates := p.client.Follow

	if p.follow {
		updates = p.client.FollowOn
	}

	for update, err := range updates(ctx, p.id, 0) {
		if err != nil {
			return err
		}

		p.printConnection(update)

		if session.Verdict == nil && watch.IsVerdict(update) {
			if session.Verdict, err = p.verdict(ctx); err != nil {
				return err
			}
		}

		if !p.json() {
			lines.Take(update)
		} else if err := p.printUpdate(update); err != nil {
			return err
		}

		if p.once && version(update) >= detail.Version {
			lines.Take(client.Update{End: detail.Status})

			return nil
		}
	}

	return nil
}

// verdict loads the verdict of a session, because the journal contains only part of it.
func (p *printer) verdict(ctx context.Context) (*tarsy.Verdict, error) {
	detail, err := p.client.Session(ctx, p.id)

	return detail.Verdict, err
}

// version returns the version of the session after an update, or -1 if the update has none.
func version(update client.Update) int64 {
	switch {
	case update.Event != nil:
		return update.Event.Seq
	case update.Reloaded != nil:
		return update.Reloaded.Detail.Version
	default:
		return -1
	}
}

// printUpdate prints an event as received. If events are missing, it prints the whole session instead.
func (p *printer) printUpdate(update client.Update) error {
	switch {
	case update.Event != nil:
		return p.printf("%s\n", terminal.JSON(update.Event.Payload))
	case update.Reloaded != nil:
		text, err := encodeJSON(map[string]any{
			"type": tarsy.TypeOverflow, "head": update.Reloaded.Detail.Version, "session": update.Reloaded.Detail, "timeline": update.Reloaded.Timeline,
		}, "")
		if err != nil {
			return err
		}

		return p.printf("%s\n", text)
	default:
		return nil
	}
}
