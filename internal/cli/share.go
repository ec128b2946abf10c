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

func shareSessionCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "share SESSION", Short: "Share a session through a read-only link that expires", Args: namedArgs,
		Long: `Prints a link. Whoever has it can read the conclusion and the timeline of this one session until it expires or is revoked, without a login.
The link is printed once.`,
		Example: `  tarsy sessions share 5f3a9c21
  tarsy sessions share 5f3a9c21 --for 24h
  tarsy sessions share 5f3a9c21 --list
  tarsy sessions share 5f3a9c21 --revoke 94e9e51a62a9`,
	}
	r := newList(t, cmd)

	var (
		life   time.Duration
		list   bool
		revoke string
	)

	cmd.Flags().DurationVar(&life, "for", tarsy.DefaultShareLife, "how long the link works, up to 2160h (90 days)")
	cmd.Flags().BoolVar(&list, "list", false, "list the shares of the session instead")
	cmd.Flags().StringVar(&revoke, "revoke", "", "revoke the share with this id instead")
	cmd.MarkFlagsMutuallyExclusive("for", "list", "revoke")

	r.onSession(cmd, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		switch {
		case list:
			return listShares(ctx, r, c, id)
		case revoke != "":
			return revokeShare(ctx, r, c, id, revoke)
		default:
			return createShare(ctx, r, c, id, life)
		}
	})

	return cmd
}

func createShare(ctx context.Context, r *remote, c *client.Client, id string, life time.Duration) error {
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

	return r.report(created, created.URL, "Whoever has this link can read the session until %s. Revoke it with: tarsy sessions share %s --revoke %s",
		created.ExpiresAt.Local().Format(time.RFC1123), short(id), short(created.ID))
}

func listShares(ctx context.Context, r *remote, c *client.Client, id string) error {
	shares, err := client.All(client.List(ctx, c, client.ListShares, nil, 0, id))

	return showList(r, shares, err, view[tarsy.Share]{
		name:    func(s tarsy.Share) string { return s.ID },
		none:    "No shares found.",
		columns: []column{{name: "ID"}, {name: "STATE"}, {name: "AUTHOR", cut: true}, {name: "AGE"}, {name: "USES"}},
		row: func(s tarsy.Share) []string {
			return []string{short(s.ID), shareState(s, time.Now()), s.Author, terminal.Age(time.Since(s.CreatedAt)), strconv.FormatInt(s.Uses, 10)}
		},
	})
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

func revokeShare(ctx context.Context, r *remote, c *client.Client, sessionID, id string) error {
	id, err := c.ResolveShare(ctx, sessionID, id)
	if err != nil {
		return err
	}

	revoked, err := client.Call(ctx, c, client.RevokeShare, nil, sessionID, id)
	if err != nil {
		return err
	}

	return r.report(revoked, "", "The share %s is revoked.", short(revoked.ID))
}
