package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/nearest"
)

func (t *tool) webhooks() *cobra.Command {
	cmd := &cobra.Command{
		Use: "webhooks", Short: "Connect Alertmanager, Grafana, PagerDuty and others", GroupID: groupClient, Args: onlyCommands,
		Example: "  tarsy webhooks list\n  tarsy webhooks test --source alertmanager",
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(t.listWebhooks(), t.testWebhooks())

	return cmd
}

// connectable is a receiver with what its sender needs.
type connectable struct {
	client.Webhook

	// Snippet is what to paste or to do at the sender.
	Snippet string `json:"snippet"`
}

func (t *tool) listWebhooks() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the webhooks and what to configure at the senders", Args: namedArgs,
		Long: `Lists the receivers of the server, each with the configuration to paste into Alertmanager or Grafana, or the steps for PagerDuty.
The addresses begin with system.dashboard_url, or with the address of the server if that is not set.`,
		Example: "  tarsy webhooks list\n  tarsy webhooks list --source grafana -o json",
	}
	connection, format, source := connectionFlags(cmd), outputFlag(cmd), sourceFlag(cmd)

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		receivers, err := receiversOf(cmd.Context(), c, *source)
		if err != nil {
			return err
		}

		all := make([]connectable, len(receivers))
		for i, r := range receivers {
			r.URL = cmp.Or(r.URL, c.Server()+r.Path)
			all[i] = connectable{Webhook: r, Snippet: snippet(r)}
		}

		if format.value == formatJSON {
			return t.printJSON(all)
		}

		for i, r := range all {
			if i > 0 {
				err = errors.Join(err, t.printf("\n"))
			}

			err = errors.Join(err, t.printf("# %s/%s: %s\n%s", r.Source, r.Name, r.URL, r.Snippet))
		}

		return err
	}

	return cmd
}

func sourceFlag(cmd *cobra.Command) *string {
	source := cmd.Flags().String("source", "", "only this sender: alertmanager, grafana, pagerduty, generic")
	// The values complete by themselves; there is nothing that could fail.
	_ = cmd.RegisterFlagCompletionFunc("source", cobra.FixedCompletions(webhookSources(), cobra.ShellCompDirectiveNoFileComp))

	return source
}

func webhookSources() []string {
	return []string{
		string(tarsy.SourceAlertmanager), string(tarsy.SourceGrafana), string(tarsy.SourcePagerDuty), string(tarsy.SourceGeneric),
	}
}

func receiversOf(ctx context.Context, c *client.Client, source string) ([]client.Webhook, error) {
	if source != "" && !slices.Contains(webhookSources(), source) {
		return nil, usageError{fmt.Errorf("there is no source %q; %s", terminal.Line(source), nearest.HintWithList(source, webhookSources(), "sources"))}
	}

	all, err := c.Webhooks(ctx)

	return slices.DeleteFunc(all, func(r client.Webhook) bool { return source != "" && r.Source != source }), err
}

// tested is what became of a sample.
type tested struct {
	Source string `json:"source"`
	Name   string `json:"name"`

	tarsy.DeliveryResult
}

func (t *tool) testWebhooks() *cobra.Command {
	cmd := &cobra.Command{
		Use: "test", Short: "Send a sample alert of each kind to a running server", Args: namedArgs,
		Long: `Sends a sample of each sender to the first receiver of its kind, or to the one named with --name, and prints what became of it.

The samples are treated like real alerts: the first one of each kind CREATES A SESSION, which uses the configured model and tools.
A second one is counted on that session. With an API key, it needs the scope write.`,
		Example: "  tarsy webhooks test\n  tarsy webhooks test --source grafana\n  tarsy webhooks test --source generic --name statuspage -o json",
	}
	connection, format, source := connectionFlags(cmd), outputFlag(cmd), sourceFlag(cmd)
	name := cmd.Flags().String("name", "", "name of the receiver")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *name != "" && *source == "" {
			return usageError{errors.New("--name needs --source")}
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		receivers, err := receiversOf(cmd.Context(), c, *source)
		if err != nil {
			return err
		}

		receivers = testable(receivers, *name)
		if len(receivers) == 0 {
			return tarsy.Errorf(tarsy.CodeNotFound, "there is no such receiver; tarsy webhooks list shows those that exist")
		}

		t.infof("Each sample is treated like a real alert and creates a session, unless an earlier one is counted.")

		results := []tested{}

		for _, r := range receivers {
			result, err := c.Deliver(cmd.Context(), r.Source, r.Name, alert.Sample(tarsy.AlertSource(r.Source), time.Now()))
			if err != nil {
				return fmt.Errorf("%s/%s: %w", r.Source, r.Name, err)
			}

			results = append(results, tested{Source: r.Source, Name: r.Name, DeliveryResult: result})
		}

		if format.value == formatJSON {
			return t.printJSON(results)
		}

		return t.printTested(c, results)
	}

	return cmd
}

// testable are the receivers to test: those with the name, or the first of each source.
func testable(receivers []client.Webhook, name string) []client.Webhook {
	var chosen []client.Webhook

	for _, r := range receivers {
		known := slices.ContainsFunc(chosen, func(c client.Webhook) bool { return c.Source == r.Source })
		if name == "" && !known || name == r.Name {
			chosen = append(chosen, r)
		}
	}

	return chosen
}

func (t *tool) printTested(c *client.Client, results []tested) error {
	var rows [][]string

	for _, r := range results {
		for _, a := range r.Alerts {
			session := ""
			if a.SessionID != nil {
				session = c.SessionPage(*a.SessionID)
			}

			rows = append(rows, []string{r.Source + "/" + r.Name, string(a.Action), a.Title, a.Reason, session})
		}
	}

	return t.table([]column{{name: "RECEIVER"}, {name: "ACTION"}, {name: "TITLE", cut: true}, {name: "REASON", cut: true}, {name: "SESSION"}}, rows)
}
