package cli

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

const (
	// offered is how many items a completion lists, and completionLimit how long it waits for the server.
	offered         = 20
	completionLimit = 2 * time.Second
)

// offerSessions completes the arguments of a command that are sessions with the newest sessions of the server.
func (r *remote) offerSessions(cmd *cobra.Command) { r.offerIDs(cmd, newestSessions) }

// offerIDs completes the first argument of a command with ids, or all arguments if it takes several.
func (r *remote) offerIDs(cmd *cobra.Command, list listIDs) {
	offered := r.completion(list)

	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 && !strings.Contains(cmd.Use, "...") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		return offered(cmd, args, part)
	}
}

// newestSessions offers the newest sessions.
func newestSessions(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
	return offerList(client.List(ctx, c, client.ListSessions, client.Filter{}, offered), func(s tarsy.SessionItem) cobra.Completion {
		return cobra.CompletionWithDesc(short(s.ID), terminal.Line(s.TitleOr(s.AlertType))+", "+readable(string(s.Status))+", "+terminal.Age(time.Since(s.CreatedAt))+" ago")
	})
}

// offerList turns the items of a list into completions.
func offerList[Item any](list iter.Seq2[Item, error], one func(Item) cobra.Completion) ([]cobra.Completion, error) {
	items, err := client.All(list)
	found := make([]cobra.Completion, 0, len(items))

	for _, item := range items {
		found = append(found, one(item))
	}

	return found, err
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
		return offerList(client.List(ctx, c, client.ListProviders, client.ProviderFilter{For: "reruns"}, 0), func(p client.Provider) cobra.Completion {
			return cobra.CompletionWithDesc(terminal.Line(p.Name), terminal.Line(cmp.Or(p.Model, p.Type)))
		})
	})
}

// listIDs returns what a completion offers.
type listIDs = func(context.Context, *client.Client) ([]cobra.Completion, error)

// completeFromServer completes a flag with values that the server lists.
func (r *remote) completeFromServer(cmd *cobra.Command, flag string, list listIDs) {
	complete(cmd, flag, r.completion(list))
}

// completion offers what the server lists, in its order, or nothing if it does not answer.
func (r *remote) completion(list listIDs) cobra.CompletionFunc {
	const directive = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder

	return func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// Shells complete without running the command, so the environment has not been bound yet.
		if r.bind(cmd) != nil {
			return nil, directive
		}

		c, err := r.open()
		if err != nil {
			return nil, directive
		}
		defer c.Close()

		ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
		defer cancel()

		found, err := list(ctx, c)
		if err != nil {
			return nil, directive
		}

		return found, directive
	}
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
