package cli

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/config"
)

// tested is the result of a sample.
type tested struct {
	Source string `json:"source"`
	Name   string `json:"name"`
	// Auth is how the sample was authenticated: token, signature, token+signature, api_key or none.
	Auth string `json:"auth"`
	// Error is the reason for a refusal; empty if the sample was accepted.
	Error string `json:"error,omitempty"`

	tarsy.DeliveryResult
}

func testWebhooksCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "test", Short: "Send a sample alert of each kind to a running server", Args: namedArgs,
		Long: `Sends a sample of each sender to the first receiver of its kind, or to the one named with --name, and prints the result.

The samples are treated like real alerts: the first one of each kind CREATES A SESSION, which uses the configured model and tools.
A second one is counted on that session.

If the variables of a receiver (token_env, secret_env) are set here too, the sample has the token or the signature that the sender
would send. Otherwise the API key is used, which needs the scope write. The receivers are read with the API key in both cases.`,
		Example: "  tarsy webhooks test\n  tarsy webhooks test --source grafana\n  tarsy webhooks test --source generic --name statuspage -o json",
	}
	r, source := newRemote(t, cmd), sourceFlag(cmd)
	name := cmd.Flags().String("name", "", "name of the receiver")

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		if *name != "" && *source == "" {
			return usageError{errors.New("--name needs --source")}
		}

		receivers, err := receiversOf(ctx, c, *source)
		if err != nil {
			return err
		}

		receivers = testable(receivers, *name)
		if len(receivers) == 0 {
			return tarsy.Errorf(tarsy.CodeNotFound, "there is no such receiver; tarsy webhooks list shows those that exist")
		}

		t.infof("Each sample is treated like a real alert and creates a session, unless an earlier one is counted.")

		results, refused := sendSamples(ctx, t, c, receivers, r.token != "")

		if r.json() {
			return errors.Join(t.printJSON(results), refused)
		}

		return errors.Join(printTested(t, c, results), refused)
	})

	return cmd
}

// testable returns the receivers to test: those called name, or the first of each source if name is empty.
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

// sendSamples sends a sample to each receiver and reports the results. The error is the first refusal, which has already been printed.
func sendSamples(ctx context.Context, t *tool, c *client.Client, receivers []client.Webhook, hasKey bool) ([]tested, error) {
	var (
		results []tested
		refused error
	)

	for _, r := range receivers {
		body := alert.Sample(tarsy.AlertSource(r.Source), time.Now())
		proof := prove(t, r, body, hasKey)
		t.infof("%s/%s: %s", r.Source, r.Name, proof.description)

		result, err := c.Deliver(ctx, r.Source, r.Name, proof.header, body)
		one := tested{Source: r.Source, Name: r.Name, Auth: proof.auth, DeliveryResult: result}

		if err != nil {
			_, one.Error = explain(ctx, err)
			if problem, ok := errors.AsType[*client.Problem](err); ok && isAuthStatus(problem.Status) {
				one.Error = terminal.Line(problem.Detail) + "; " + proof.advice
			}

			t.infof("%s/%s: %s", r.Source, r.Name, one.Error)

			if refused == nil {
				refused = reportedError{err}
			}
		}

		results = append(results, one)
	}

	return results, refused
}

func isAuthStatus(status int) bool {
	return status == http.StatusUnauthorized || status == http.StatusForbidden
}

// proof describes how a sample is authenticated.
type proof struct {
	auth        string
	header      http.Header // nil for the API key
	description string
	// advice explains what to do if the server refuses the proof.
	advice string
}

// prove authenticates a sample as the sender would if the receiver's variables are set here. Otherwise it uses the API key.
func prove(t *tool, r client.Webhook, body []byte, hasKey bool) proof {
	var kinds, parts, names []string

	if r.TokenEnv != "" {
		kinds, parts, names = append(kinds, authToken), append(parts, "the token in "+r.TokenEnv), append(names, r.TokenEnv)
	}

	if r.SecretEnv != "" {
		kinds, parts, names = append(kinds, authSignature), append(parts, "a signature with the secret in "+r.SecretEnv), append(names, r.SecretEnv)
	}

	header, err := alert.Sign(config.Receiver{Source: r.Source, Name: r.Name, TokenEnv: r.TokenEnv, SecretEnv: r.SecretEnv}, t.variable, body)
	if err == nil && len(header) > 0 {
		return proof{
			auth: strings.Join(kinds, "+"), header: header, description: "sent with " + strings.Join(parts, " and "),
			advice: "the server needs the same value of " + strings.Join(names, " and ") + " as set here",
		}
	}

	with := proof{auth: authKey, description: "sent with the API key", advice: "use an API key with the scope write (--token or TARSY_TOKEN)"}
	if !hasKey {
		with.auth, with.description = authNone, "sent without an API key"
	}

	if err != nil {
		missing := slices.DeleteFunc(names, func(name string) bool {
			_, set := t.variable(name)

			return set
		})
		with.description += "; not set here: " + strings.Join(missing, ", ")
		with.advice = "set " + strings.Join(missing, " and ") + " here to the value that the server has, or " + with.advice
	}

	return with
}

func printTested(t *tool, c *client.Client, results []tested) error {
	var rows [][]string

	for _, r := range results {
		if r.Error != "" {
			rows = append(rows, []string{r.Source + "/" + r.Name, "refused", "", r.Error, ""})
		}

		for _, a := range r.Alerts {
			session := ""
			if a.SessionID != nil {
				session = c.SessionPage(*a.SessionID)
			}

			rows = append(rows, []string{r.Source + "/" + r.Name, string(a.Action), a.Title, a.Reason, session})
		}
	}

	return t.table([]column{
		{name: "RECEIVER"}, {name: "ACTION"}, {name: "TITLE", cut: true, optional: true}, {name: "REASON", cut: true}, {name: "SESSION", optional: true},
	}, rows)
}
