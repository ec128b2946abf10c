package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) watch() *cobra.Command {
	cmd := &cobra.Command{
		Use: "watch [SESSION]", Short: "Follow a session live", GroupID: groupClient, Args: cobra.MaximumNArgs(1),
		Long: `Follows a session while the agents work: stages, thinking, tool calls with their results, text as it is written.

In a terminal it is a screen, and without SESSION a list to choose from. Elsewhere, with --lines or with -o json it prints
one thing after the other until the session is over, and without SESSION takes the newest. When the connection is lost
it connects again and goes on where it was. An id may be shortened to its beginning or its end.

Keys: ↑ ↓ PgUp PgDn scroll · End follow the end · e show whole results · c cancel the session · Esc back · q quit`,
		Example: `  tarsy watch
  tarsy watch 5f3a9c21
  tarsy watch --lines | tee investigation.log
  tarsy watch -o json | jq -r .event_type`,
	}
	connection := connectionFlags(cmd)
	format := outputFlag(cmd)
	lines := cmd.Flags().Bool("lines", false, "print lines instead of showing a screen")
	once := cmd.Flags().Bool("once", false, "print what has happened so far and end")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		screen := isTerminal(t.Stdout) && isTerminal(t.Stdin) && !*lines && !*once && format.value == formatText
		id := ""

		if len(args) > 0 {
			id, err = c.Resolve(cmd.Context(), args[0])
		} else if !screen {
			id, err = newest(cmd.Context(), c)
		}

		if err != nil {
			return err
		}

		if screen {
			return t.screen(cmd.Context(), c, id)
		}

		return t.lines(cmd.Context(), c, id, format.value, *once)
	}

	return cmd
}

var errNoSessions = tarsy.Errorf(tarsy.CodeSessionNotFound, `there are no sessions yet; submit an alert with tarsy submit -m "what happened"`)

func newest(ctx context.Context, c *client.Client) (string, error) {
	for session, err := range c.Sessions(ctx, client.Filter{Limit: 1}) {
		return session.ID, err
	}

	return "", errNoSessions
}

// screen shows the session, and leaves its result in the terminal when it is left.
func (t *tool) screen(ctx context.Context, c *client.Client, id string) error {
	session, err := watch.Run(ctx, watch.Options{
		Client: c, SessionID: id, Palette: t.palette(t.Stdout), In: t.Stdin, Out: t.Stdout, Env: t.Env,
	})
	if err != nil || session == nil {
		return err
	}

	t.sayf("%s  %s", session.Outcome(t.palette(t.Stderr)), session.ID)

	return nil
}

// lines prints a session's events until it is over, or up to now.
func (t *tool) lines(ctx context.Context, c *client.Client, id, format string, once bool) error {
	detail, err := c.Session(ctx, id)
	if err != nil {
		return err
	}

	plain := watch.NewLines(t.Stdout, watch.NewSession(detail))

	for update, err := range c.Follow(ctx, id, 0) {
		if err != nil {
			return err
		}

		t.connected(update)

		switch {
		case format == formatText:
			plain.Take(update)
		case update.Event != nil:
			if err := t.printf("%s\n", terminal.JSON(update.Event.Payload)); err != nil {
				return err
			}
		}

		if once && update.Event != nil && update.Event.Seq >= detail.Version {
			return nil
		}
	}

	return nil
}
