package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/nearest"
)

func webhooksCommand(t *tool) *cobra.Command {
	return listGroup(t, &cobra.Command{
		Use: "webhooks", Aliases: []string{"webhook"}, Short: "Connect Alertmanager, Grafana, PagerDuty and others",
		Example: "  tarsy webhooks\n  tarsy webhooks test --source alertmanager",
	}, &cobra.Command{
		Short: "List the webhooks and what to configure at the senders",
		Long: `Lists the receivers of the server, each with what to paste: the configuration of Alertmanager, a contact point for Grafana, the call
that subscribes PagerDuty, or a call of curl for other senders. The addresses begin with system.dashboard_url, or with the address of
the server if that is not set. With -o wide it lists only the addresses and which proof they need.`,
		Example: "  tarsy webhooks list\n  tarsy webhooks list --source grafana -o json",
	}, listingWebhooks, testWebhooksCommand(t))
}

// connectable is a receiver with the configuration for its sender.
type connectable struct {
	client.Webhook

	// Snippet is what to paste or to do on the sender's side.
	Snippet string `json:"snippet"`
}

// listingWebhooks sets up cmd to list receivers.
func listingWebhooks(t *tool, cmd *cobra.Command) {
	r, source := newList(t, cmd), sourceFlag(cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		receivers, err := receiversOf(ctx, c, *source)
		if err != nil {
			return err
		}

		all := make([]connectable, len(receivers))
		for i, r := range receivers {
			r.URL = cmp.Or(r.URL, c.Server()+r.Path)
			all[i] = connectable{Webhook: r, Snippet: snippet(r)}
		}

		if r.format.value == formatText {
			return printSnippets(t, all)
		}

		return showList(r, all, nil, view[connectable]{
			name:    connectable.id,
			columns: []column{{name: "RECEIVER"}, {name: "TOKEN IN"}, {name: "SECRET IN"}, {name: "URL"}},
			row:     func(c connectable) []string { return []string{c.id(), c.TokenEnv, c.SecretEnv, c.URL} },
		})
	})
}

func (c connectable) id() string { return c.Source + "/" + c.Name }

// printSnippets prints what to paste for each receiver.
func printSnippets(t *tool, all []connectable) error {
	var err error

	for i, r := range all {
		if i > 0 {
			err = errors.Join(err, t.printf("\n"))
		}

		err = errors.Join(err, t.printf("# %s: %s\n%s", r.id(), r.URL, r.Snippet))
	}

	return err
}

func sourceFlag(cmd *cobra.Command) *string {
	source := cmd.Flags().String("source", "", "only this sender: "+strings.Join(webhookSources(), ", "))
	offer(cmd, "source", webhookSources())

	return source
}

func webhookSources() []string {
	var names []string
	for _, source := range tarsy.WebhookSources() {
		names = append(names, string(source))
	}

	return names
}

func receiversOf(ctx context.Context, c *client.Client, source string) ([]client.Webhook, error) {
	if source != "" && !slices.Contains(webhookSources(), source) {
		return nil, usageError{fmt.Errorf("there is no source %q; %s", terminal.Line(source), nearest.HintWithList(source, webhookSources(), "sources"))}
	}

	all, err := client.All(client.List(ctx, c, client.ListWebhooks, nil, 0))

	return slices.DeleteFunc(all, func(r client.Webhook) bool { return source != "" && r.Source != source }), err
}
