package cli

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

const (
	// offered is how many sessions a completion lists, and completionLimit how long it waits for the server.
	offered         = 20
	completionLimit = 2 * time.Second
)

// offerSessions completes the first argument of a command with the newest sessions of the server.
func (r *remote) offerSessions(cmd *cobra.Command) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// Shells complete without running the command, so the environment has not been bound yet.
		if len(args) > 0 || r.bind(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		return newestSessions(cmd.Context(), r.connection), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// newestSessions returns the sessions to offer, or none if the server does not answer.
func newestSessions(ctx context.Context, connection *connection) []cobra.Completion {
	c, err := connection.open()
	if err != nil {
		return nil
	}
	defer c.Close()

	ctx, cancel := context.WithTimeout(ctx, completionLimit)
	defer cancel()

	var found []cobra.Completion

	for session, err := range client.List(ctx, c, client.ListSessions, client.Filter{}, offered) {
		if err != nil {
			return found
		}

		what := terminal.Line(session.TitleOr(session.AlertType)) + ", " + readable(string(session.Status)) + ", " + terminal.Age(time.Since(session.CreatedAt)) + " ago"
		found = append(found, cobra.CompletionWithDesc(short(session.ID), what))
	}

	return found
}

// completeTypes completes --type with the alert types of the server.
func (r *remote) completeTypes(cmd *cobra.Command) {
	r.completeFromServer(cmd, "type", func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		return describedTypes(ctx, c, func(kind client.AlertType) string { return kind.Name })
	})
}

// completeChains completes --chain with the chains of the server.
func (r *remote) completeChains(cmd *cobra.Command) {
	r.completeFromServer(cmd, "chain", func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		return describedTypes(ctx, c, func(kind client.AlertType) string { return kind.ChainID })
	})
}

// completeProviders completes --provider with the providers that a re-run can choose.
func (r *remote) completeProviders(cmd *cobra.Command) {
	r.completeFromServer(cmd, "provider", func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		providers, err := client.All(client.List(ctx, c, client.ListProviders, client.ProviderFilter{For: "reruns"}, 0))
		found := make([]cobra.Completion, 0, len(providers))

		for _, provider := range providers {
			found = append(found, cobra.CompletionWithDesc(terminal.Line(provider.Name), terminal.Line(cmp.Or(provider.Model, provider.Type))))
		}

		return found, err
	})
}

// completeFromServer completes a flag with values that the server lists, or with none if it does not answer.
func (r *remote) completeFromServer(
	cmd *cobra.Command, flag string, list func(context.Context, *client.Client) ([]cobra.Completion, error),
) {
	complete(cmd, flag, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// Shells complete without running the command, so the environment has not been bound yet.
		if r.bind(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		c, err := r.open()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer c.Close()

		ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
		defer cancel()

		found, err := list(ctx, c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		return found, cobra.ShellCompDirectiveNoFileComp
	})
}

// describedTypes returns one name per alert type, without duplicates.
func describedTypes(ctx context.Context, c *client.Client, name func(client.AlertType) string) ([]cobra.Completion, error) {
	types, err := client.All(client.List(ctx, c, client.ListAlertTypes, nil, 0))
	found := make([]cobra.Completion, 0, len(types))

	for _, kind := range types {
		offered := cobra.CompletionWithDesc(terminal.Line(name(kind)), terminal.Line(kind.Description))
		if !slices.Contains(found, offered) {
			found = append(found, offered)
		}
	}

	return found, err
}

// offer completes a flag with fixed values.
func offer[Value ~string](cmd *cobra.Command, flag string, values []Value) {
	names := make([]cobra.Completion, len(values))
	for i, value := range values {
		names[i] = string(value)
	}

	complete(cmd, flag, cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// completeOutcomes completes --outcome and describes each outcome.
func completeOutcomes(cmd *cobra.Command) {
	var names []cobra.Completion
	for _, outcome := range tarsy.Outcomes() {
		names = append(names, cobra.CompletionWithDesc(string(outcome), outcome.Words()))
	}

	complete(cmd, "outcome", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// complete registers a completion for a flag of the command. It cannot fail because the flag exists.
func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, values)
}
