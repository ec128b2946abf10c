package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

const (
	// offered is how many sessions a shell offers, and completionLimit how long it waits for the server.
	offered         = 20
	completionLimit = 2 * time.Second
)

// offerSessions makes a command complete its first argument with the newest sessions of the server.
func (t *tool) offerSessions(cmd *cobra.Command, connection *connection) {
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		// Shells complete without running the command, so that nobody has looked at the environment yet.
		if len(args) > 0 || t.bind(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		return newestSessions(cmd.Context(), connection), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// newestSessions is what a shell offers; nothing, if the server does not answer.
func newestSessions(ctx context.Context, connection *connection) []cobra.Completion {
	c, err := connection.open()
	if err != nil {
		return nil
	}
	defer c.Close()

	ctx, cancel := context.WithTimeout(ctx, completionLimit)
	defer cancel()

	var found []cobra.Completion

	for session, err := range c.Sessions(ctx, client.Filter{Limit: offered}) {
		if err != nil {
			return found
		}

		what := terminal.Line(session.TitleOr(session.AlertType)) + ", " + readable(string(session.Status)) + ", " + terminal.Age(time.Since(session.CreatedAt)) + " ago"
		found = append(found, cobra.CompletionWithDesc(short(session.ID), what))
	}

	return found
}

// completeTypes completes --type with the alert types of the server.
func (t *tool) completeTypes(cmd *cobra.Command, connection *connection) {
	complete(cmd, "type", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if t.bind(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		return alertTypes(cmd.Context(), connection), cobra.ShellCompDirectiveNoFileComp
	})
}

// completeChains completes --chain with the chains of the server.
func (t *tool) completeChains(cmd *cobra.Command, connection *connection) {
	complete(cmd, "chain", func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if t.bind(cmd) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}

		return describedTypes(cmd.Context(), connection, func(kind client.AlertType) string { return kind.ChainID }), cobra.ShellCompDirectiveNoFileComp
	})
}

func alertTypes(ctx context.Context, connection *connection) []cobra.Completion {
	return describedTypes(ctx, connection, func(kind client.AlertType) string { return kind.Name })
}

// describedTypes are names that come with the alert types, each once.
func describedTypes(ctx context.Context, connection *connection, name func(client.AlertType) string) []cobra.Completion {
	c, err := connection.open()
	if err != nil {
		return nil
	}
	defer c.Close()

	ctx, cancel := context.WithTimeout(ctx, completionLimit)
	defer cancel()

	types, err := c.AlertTypes(ctx)
	if err != nil {
		return nil
	}

	found := make([]cobra.Completion, 0, len(types))

	for _, kind := range types {
		offered := cobra.CompletionWithDesc(terminal.Line(name(kind)), terminal.Line(kind.Description))
		if !slices.Contains(found, offered) {
			found = append(found, offered)
		}
	}

	return found
}

// completeStatuses completes --status.
func completeStatuses(cmd *cobra.Command) {
	var names []cobra.Completion
	for _, status := range tarsy.SessionStatuses() {
		names = append(names, string(status))
	}

	complete(cmd, "status", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// completeOutcomes completes --outcome.
func completeOutcomes(cmd *cobra.Command) {
	var names []cobra.Completion
	for _, outcome := range tarsy.Outcomes() {
		names = append(names, cobra.CompletionWithDesc(string(outcome), outcome.Words()))
	}

	complete(cmd, "outcome", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

func completeSeverities(cmd *cobra.Command) {
	var names []cobra.Completion
	for _, severity := range tarsy.Severities() {
		names = append(names, string(severity))
	}

	complete(cmd, "severity", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// complete registers a completion for a flag that the command has, which cannot fail.
func complete(cmd *cobra.Command, flag string, values cobra.CompletionFunc) {
	_ = cmd.RegisterFlagCompletionFunc(flag, values)
}
