package cli

import (
	"context"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

func rerunCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "rerun SESSION", Short: "Submit the alert of a session again", GroupID: groupClient, Args: namedArgs,
		Long: `Submits the alert of a session again, with its type, chain, runbook, provider and tool selection, and prints the id of the new
session. It uses the alert as it was stored, with its secrets masked. The old session does not change.

--chain, --provider and --mcp investigate it in another way, to compare. With another chain, all of its tools are used unless --mcp
limits them. With --provider "" a session that was asked to use a provider goes back to those of its chain.

With --wait it follows the new session, prints the verdict and the final analysis, and exits with code 5 if the session does not complete.`,
		Example: `  tarsy rerun 5f3a9c21
  tarsy rerun 5f3a9c21 --provider anthropic-default --wait
  tarsy rerun 5f3a9c21 --chain deep-investigation --mcp kubernetes-server:get_pods,get_events`,
	}
	s := &submission{remote: newRemote(t, cmd)}
	flags := cmd.Flags()
	chain := flags.String("chain", "", "chain to use (default: that of the session)")
	provider := flags.String("provider", "", "LLM provider of all agents (default: as in the session)")
	flags.StringArrayVar(&s.servers, "mcp", nil, "limit to this MCP server of the chain, as server or server:tool,tool; may be repeated")
	flags.BoolVarP(&s.wait, "wait", "w", false, "follow the session until it ends and print the verdict and the final analysis")
	s.completeChains(cmd)
	s.completeProviders(cmd)

	s.onSession(cmd, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		changes := &client.RerunChanges{ChainID: *chain}
		if flags.Changed("provider") {
			changes.LLMProvider = provider
		}

		var err error
		if changes.MCPSelection, err = selection(s.servers); err != nil {
			return err
		}

		accepted, err := client.Create(ctx, c, client.RerunSession, "", changes, id)
		if err != nil {
			return err
		}

		return s.finish(ctx, c, accepted)
	})

	return cmd
}
