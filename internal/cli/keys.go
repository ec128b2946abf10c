package cli

import (
	"context"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/auth"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/account"
)

// keyStore manages keys, through a server or in its database.
type keyStore interface {
	CreateKey(ctx context.Context, key client.NewKey) (client.CreatedKey, error)
	Keys(ctx context.Context) ([]tarsy.APIKey, error)
	RevokeKey(ctx context.Context, idOrPrefix string) (tarsy.APIKey, error)
	Close()
}

// keyServer manages keys through a server.
type keyServer struct{ *client.Client }

func (k keyServer) CreateKey(ctx context.Context, key client.NewKey) (client.CreatedKey, error) {
	return client.Call(ctx, k.Client, client.CreateKey, key)
}

func (k keyServer) Keys(ctx context.Context) ([]tarsy.APIKey, error) {
	return client.All(client.List(ctx, k.Client, client.ListKeys, nil, 0))
}

func (k keyServer) RevokeKey(ctx context.Context, idOrPrefix string) (tarsy.APIKey, error) {
	return client.Call(ctx, k.Client, client.RevokeKey, nil, idOrPrefix)
}

// keyDatabase manages keys without a server, for operators who lost the last admin key.
type keyDatabase struct {
	db       *postgres.DB
	accounts *account.Store
}

func (k keyDatabase) CreateKey(ctx context.Context, key client.NewKey) (client.CreatedKey, error) {
	now := time.Now()

	issued, err := auth.Issue(key.Name, key.Scopes, now)
	if err != nil {
		return client.CreatedKey{}, err
	}

	if err := issued.LimitTo(key.Teams); err != nil {
		return client.CreatedKey{}, err
	}

	if key.ExpiresAt != nil {
		if err := issued.ExpireAt(*key.ExpiresAt, now); err != nil {
			return client.CreatedKey{}, err
		}
	}

	return client.CreatedKey{Key: issued.Secret, APIKey: issued.Key}, k.accounts.CreateKey(keyDecision(ctx, "key.create", now), issued.Key, issued.Hash)
}

// keyDecision returns a context for changing a key without a server. The actor is the operating system user; with the address of the
// database, that user can change anything in it.
func keyDecision(ctx context.Context, action string, now time.Time) context.Context {
	actor := "unknown"
	if current, err := user.Current(); err == nil {
		actor = current.Username
	}

	return audit.By(ctx, tarsy.AuditEntry{
		At: now, Actor: actor, ActorKind: tarsy.ActorCLI, Role: tarsy.RoleAdmin, Action: action, TargetType: "key", Outcome: tarsy.AuditOK,
	})
}

func (k keyDatabase) Keys(ctx context.Context) ([]tarsy.APIKey, error) { return k.accounts.Keys(ctx) }

func (k keyDatabase) RevokeKey(ctx context.Context, idOrPrefix string) (tarsy.APIKey, error) {
	now := time.Now()

	key, err := k.accounts.RevokeKey(keyDecision(ctx, "key.revoke", now), idOrPrefix, now)
	if err != nil {
		return tarsy.APIKey{}, err
	}

	return *key, nil
}

func (k keyDatabase) Close() { k.db.Stop() }

// keyFlags select where the keys are.
type keyFlags struct {
	*remote

	databaseURL string
}

func newKeyFlags(r *remote, cmd *cobra.Command) *keyFlags {
	f := &keyFlags{remote: r}
	// This flag has no variable on purpose: where one is set for the server, keys should still go through the API.
	cmd.Flags().StringVar(&f.databaseURL, "database-url", "", "use this database directly instead of a server")

	return f
}

// run sets up cmd to work with the keys of a server or a database, which is closed afterwards.
func (f *keyFlags) run(cmd *cobra.Command, do func(ctx context.Context, keys keyStore, args []string) error) {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		keys, err := f.keys(cmd.Context())
		if err != nil {
			return err
		}
		defer keys.Close()

		return do(cmd.Context(), keys, args)
	}
}

func (f *keyFlags) keys(ctx context.Context) (keyStore, error) {
	if f.databaseURL == "" {
		c, err := f.open()

		return keyServer{c}, err
	}

	if err := postgres.Migrate(ctx, f.databaseURL); err != nil {
		return nil, err
	}

	db, err := postgres.Open(ctx, postgres.Config{URL: f.databaseURL})
	if err != nil {
		return nil, err
	}

	return keyDatabase{db, account.New(db)}, nil
}

// direct prints a change made directly in the database, in every output format: no server logs the change, so apart
// from the audit log this is its only record.
func (f *keyFlags) direct(change string, key tarsy.APIKey) {
	if f.databaseURL == "" {
		return
	}

	f.infof("%s key %s (id %s, name %q, scopes %s) directly in the database at %s. No server logs this change.",
		change, key.Prefix, key.ID, terminal.Line(key.Name), scopeList(key.Scopes), time.Now().UTC().Format(time.RFC3339))
}

func keysCommand(t *tool) *cobra.Command {
	return listGroup(t, &cobra.Command{
		Use: "keys", Aliases: []string{"key"}, Short: "Create, list and revoke API keys",
		Long: `Manages API keys through the server, which requires a key with the scope admin, or directly in a database with
--database-url. Scopes: read reads everything; write also submits, asks, cancels and deletes; admin also manages keys.`,
		Example: `  tarsy keys create alertmanager --scope write --expires 90d
  tarsy keys create payments-bot --role responder --team payments
  tarsy keys list
  tarsy keys revoke k3x9m2qa
  tarsy keys create rescue --scope admin --database-url postgres://…`,
	}, &cobra.Command{
		Short: "List the keys", Example: "  tarsy keys list\n  tarsy keys list -o json",
	}, listingKeys, createKeyCommand(t), revokeKeyCommand(t))
}

func createKeyCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Create a key and print its secret, which is not shown again", Args: namedArgs,
		Example: "  tarsy keys create alertmanager --scope write\n  export TARSY_TOKEN=$(tarsy keys create me --scope admin)",
	}
	flags := newKeyFlags(newRemote(t, cmd), cmd)
	names := cmd.Flags().StringSlice("scope", []string{string(tarsy.ScopeRead)}, "what the key may do: read, write, admin")
	role := newChoice(string(tarsy.RoleViewer), string(tarsy.RoleResponder), string(tarsy.RoleAdmin))
	cmd.Flags().Var(role, "role", "the same as a role: viewer (read), responder (write), admin")
	cmd.MarkFlagsMutuallyExclusive("scope", "role")
	teams := cmd.Flags().StringSlice("team", nil, "a team whose sessions the key sees, where sessions are visible by team (default: all teams)")

	var life lifetime

	cmd.Flags().Var(&life, "expires", "how long the key is valid, such as 90d or 12h (default: it does not expire)")

	flags.run(cmd, func(ctx context.Context, keys keyStore, args []string) error {
		scopes := make([]tarsy.Scope, 0, len(*names))
		for _, name := range *names {
			scopes = append(scopes, tarsy.Scope(strings.TrimSpace(name)))
		}

		if cmd.Flags().Changed("role") {
			scopes = []tarsy.Scope{tarsy.AccessRole(role.value).Scope()}
		}

		created, err := keys.CreateKey(ctx, client.NewKey{Name: args[0], Scopes: scopes, ExpiresAt: life.from(time.Now()), Teams: *teams})
		if err != nil {
			return err
		}

		flags.direct("Created", created.APIKey)

		return flags.report(created, created.Key, "Key %s (%s) for %s. This is the only time it is shown:", created.Prefix, scopeList(created.Scopes), terminal.Line(created.Name))
	})

	return cmd
}

func scopeList(scopes []tarsy.Scope) string {
	names := make([]string, len(scopes))
	for i, scope := range scopes {
		names[i] = string(scope)
	}

	return strings.Join(names, ", ")
}

// listingKeys sets up cmd to list keys.
func listingKeys(t *tool, cmd *cobra.Command) {
	flags := newKeyFlags(newList(t, cmd), cmd)

	flags.run(cmd, func(ctx context.Context, keys keyStore, _ []string) error {
		list, err := keys.Keys(ctx)

		return showList(flags.remote, list, err, view[tarsy.APIKey]{
			name: func(key tarsy.APIKey) string { return key.ID },
			columns: []column{
				{name: "PREFIX"}, {name: "NAME", cut: true}, {name: "SCOPES", cut: true}, {name: "TEAMS", cut: true, optional: true}, {name: "CREATED", optional: true}, {name: "LAST USED"}, {name: "EXPIRES"}, {name: "STATE"},
			},
			row: keyRow,
		})
	})
}

func keyRow(key tarsy.APIKey) []string {
	used, expires, state := "never", "never", "active"
	if key.LastUsedAt != nil {
		used = terminal.Age(time.Since(*key.LastUsedAt)) + " ago"
	}

	if key.ExpiresAt != nil {
		expires = "in " + terminal.Age(time.Until(*key.ExpiresAt))
	}

	if key.Expired(time.Now()) {
		expires, state = terminal.Age(time.Since(*key.ExpiresAt))+" ago", "expired"
	}

	if key.RevokedAt != nil {
		state = "revoked"
	}

	return []string{
		key.Prefix, key.Name, scopeList(key.Scopes), strings.Join(key.Teams, ", "), terminal.Age(time.Since(key.CreatedAt)) + " ago", used, expires, state,
	}
}

func revokeKeyCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "revoke KEY", Short: "Revoke a key by its id or prefix; this cannot be undone", Args: namedArgs,
		Example: "  tarsy keys revoke k3x9m2qa",
	}
	flags := newKeyFlags(newRemote(t, cmd), cmd)
	flags.offerIDs(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		return offerList(client.List(ctx, c, client.ListKeys, nil, offered), func(key tarsy.APIKey) cobra.Completion {
			return cobra.CompletionWithDesc(key.Prefix, terminal.Line(key.Name))
		})
	})

	flags.run(cmd, func(ctx context.Context, keys keyStore, args []string) error {
		key, err := keys.RevokeKey(ctx, args[0])
		if err != nil {
			return err
		}

		flags.direct("Revoked", key)

		return flags.report(key, "", "Key %s of %s is revoked.", key.Prefix, terminal.Line(key.Name))
	})

	return cmd
}
