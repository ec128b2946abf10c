package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func (t *tool) shareSession() *cobra.Command {
	cmd := &cobra.Command{
		Use: "share SESSION", Short: "Share a session by a read-only link that expires", Args: namedArgs,
		Long: `Prints a link. Whoever has it can read the conclusion and the timeline of this one session until it expires or is revoked, without a login.
The link is printed once.`,
		Example: `  tarsy sessions share 5f3a9c21
  tarsy sessions share 5f3a9c21 --for 24h
  tarsy sessions share 5f3a9c21 --list
  tarsy sessions share 5f3a9c21 --revoke 01a1dd6b-e57b-71ff-adf3-94e9e51a62a9`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)

	var (
		life   time.Duration
		list   bool
		revoke string
	)

	cmd.Flags().DurationVar(&life, "for", tarsy.DefaultShareLife, "how long the link works, up to 2160h (90 days)")
	cmd.Flags().BoolVar(&list, "list", false, "list the shares of the session instead")
	cmd.Flags().StringVar(&revoke, "revoke", "", "revoke the share with this id instead")
	cmd.MarkFlagsMutuallyExclusive("for", "list", "revoke")
	t.offerSessions(cmd, connection)

	cmd.RunE = onSession(connection, func(ctx context.Context, c *client.Client, id string) error {
		switch {
		case list:
			return t.listShares(ctx, c, format, id)
		case revoke != "":
			return t.revokeShare(ctx, c, format, id, revoke)
		default:
			return t.createShare(ctx, c, format, id, life)
		}
	})

	return cmd
}

func (t *tool) createShare(ctx context.Context, c *client.Client, format *choice, id string, life time.Duration) error {
	var share client.NewShare
	if life > 0 {
		share.ExpiresIn = life.String()
	}

	created, err := client.Call(ctx, c, client.ShareSession, share, id)
	if err != nil {
		return err
	}

	if created.URL == "" {
		created.URL = c.Server() + "/shared#" + created.Secret
	}

	if format.value == formatJSON {
		return t.printJSON(created)
	}

	t.infof("Whoever has this link can read the session until %s. Revoke it with: tarsy sessions share %s --revoke %s",
		created.ExpiresAt.Local().Format(time.RFC1123), short(id), created.ID)

	return t.printf("%s\n", created.URL)
}

func (t *tool) listShares(ctx context.Context, c *client.Client, format *choice, id string) error {
	shares, err := client.All(client.List(ctx, c, client.ListShares, nil, 0, id))
	if err != nil {
		return err
	}

	if format.value == formatJSON {
		return t.printJSON(append([]tarsy.Share{}, shares...))
	}

	if len(shares) == 0 {
		t.infof("No shares found.")

		return nil
	}

	rows := make([][]string, len(shares))
	for i, s := range shares {
		rows[i] = []string{s.ID, shareState(s, time.Now()), s.Author, terminal.Age(time.Since(s.CreatedAt)), strconv.FormatInt(s.Uses, 10)}
	}

	return t.table([]column{{name: "ID"}, {name: "STATE"}, {name: "AUTHOR", cut: true}, {name: "AGE"}, {name: "USES"}}, rows)
}

func shareState(s tarsy.Share, now time.Time) string {
	switch {
	case s.RevokedAt != nil:
		return "revoked"
	case now.Before(s.ExpiresAt):
		return "expires in " + terminal.Age(s.ExpiresAt.Sub(now))
	default:
		return "expired"
	}
}

func (t *tool) revokeShare(ctx context.Context, c *client.Client, format *choice, sessionID, id string) error {
	revoked, err := client.Call(ctx, c, client.RevokeShare, nil, sessionID, id)
	if err != nil {
		return err
	}

	if format.value == formatJSON {
		return t.printJSON(revoked)
	}

	t.infof("The share %s is revoked.", revoked.ID)

	return nil
}
