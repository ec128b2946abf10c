package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/inbox"
	"tarsy.dev/tarsy/internal/runbook"
)

// routedAlert describes where an alert goes, and why.
type routedAlert struct {
	tarsy.AlertFacts

	Resolved  bool   `json:"resolved"`
	AlertType string `json:"alert_type"`
	ChainID   string `json:"chain_id"`
	// Route is the entry of alerts.routes that matched; nil if none did.
	Route *matchedRoute `json:"route"`
	// Skipped are the entries before Route.
	Skipped []skippedRoute `json:"skipped"`
	// MCPServers are the servers that the agents may use.
	MCPServers []string `json:"mcp_servers"`
	Runbook    string   `json:"runbook"`
	RunbookURL string   `json:"runbook_url"`
}

type matchedRoute struct {
	Index  int    `json:"index"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

type skippedRoute struct {
	Index int    `json:"index"`
	Name  string `json:"name"`
	// Matcher is the first matcher that failed, and Value the alert's value for it.
	Matcher string `json:"matcher"`
	Value   string `json:"value"`
}

func routeAlertsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "route", Short: "Explain where alerts go", Args: namedArgs,
		Long: `Reads alerts from stdin and prints for each what it is about, the route that decides on it and why, the routes before it with the
matcher that does not hold, the chain, the MCP servers and the runbook. Nothing is sent or stored.

A body of Alertmanager or Grafana is recognized. Other bodies need --receiver; without it, the input is the text of one alert.`,
		Example: "  tarsy config route --config-dir ./config < alert.json\n  tarsy config route --receiver generic/statuspage < body.json -o json",
	}
	flags, format := newServerFlags(t, cmd, "tarsy", "info").configured(cmd), outputFlag(cmd)
	receiver := cmd.Flags().String("receiver", "", "receiver that gets the body, as source/name")

	cmd.RunE = func(*cobra.Command, []string) error {
		cfg, err := flags.load()
		if err != nil {
			return err
		}

		body, err := t.readAlerts()
		if err != nil {
			return err
		}

		fetcher := runbook.New(runbook.Config{AllowedDomains: cfg.System.Runbooks.AllowedDomains})
		defer fetcher.Close()

		reader := inbox.Reader{
			Config: cfg, Chains: chain.NewCatalog(cfg), AllowsRunbook: func(url string) bool { return fetcher.Check(url) == nil },
		}

		routed, err := explainRoutes(reader, *receiver, body)
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(routed)
		}

		return printRoutes(t, routed)
	}

	return cmd
}

var errNoAlerts = errors.New("no alerts given: pass a body on stdin, as in tarsy config route < alert.json")

// readAlerts reads stdin, up to the size limit of a receiver.
func (o *output) readAlerts() ([]byte, error) {
	const limit = 8 << 20

	if o.isTerminal(o.Stdin) {
		return nil, usageError{errNoAlerts}
	}

	body, err := io.ReadAll(io.LimitReader(o.Stdin, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read the alerts from stdin: %w", err)
	}

	if len(body) > limit {
		return nil, usageError{fmt.Errorf("the body is larger than %d bytes, which no receiver accepts", limit)}
	}

	if strings.TrimSpace(string(body)) == "" {
		return nil, usageError{errNoAlerts}
	}

	return body, nil
}

func explainRoutes(reader inbox.Reader, receiver string, body []byte) ([]routedAlert, error) {
	if source, ok := alert.Recognize(body); ok && receiver == "" {
		receiver = string(source) + "/" + config.DefaultReceiver
	}

	if receiver == "" {
		one := tarsy.Alert{Data: string(body)}

		found, err := reader.Complete(&one)
		if err != nil {
			return nil, err
		}

		routed, err := explainRoute(reader, one, found)

		return []routedAlert{routed}, err
	}

	source, name, _ := strings.Cut(receiver, "/")

	to, ok := reader.Config.Receiver(source, name)
	if !ok {
		return nil, usageError{fmt.Errorf("there is no receiver %q in the configuration; write source/name", receiver)}
	}

	delivery, matches, err := reader.Read(to, body)
	if err != nil {
		return nil, err
	}

	all := make([]routedAlert, len(delivery.Alerts))

	for i, one := range delivery.Alerts {
		if all[i], err = explainRoute(reader, one, matches[i]); err != nil {
			return nil, err
		}
	}

	return all, nil
}

func explainRoute(reader inbox.Reader, one tarsy.Alert, found chain.RouteMatch) (routedAlert, error) {
	// The tools of a server are unknown here, and routes select only servers.
	route, err := reader.Chains.Route(one, nil)
	if err != nil {
		return routedAlert{}, err
	}

	routed := routedAlert{
		AlertFacts: one.Facts, Resolved: one.Resolved, AlertType: route.AlertType, ChainID: route.Chain.ID, Skipped: []skippedRoute{},
		MCPServers: append([]string{}, route.Chain.Servers()...), Runbook: one.Runbook, RunbookURL: one.RunbookURL,
	}

	if routed.Runbook == "" && routed.RunbookURL == "" {
		routed.Runbook = route.Runbook
	}

	if one.MCPSelection != nil {
		routed.MCPServers = []string{}
		for _, s := range one.MCPSelection.Servers {
			routed.MCPServers = append(routed.MCPServers, s.Name)
		}
	}

	if found.Index >= 0 {
		routed.Route = &matchedRoute{Index: found.Index, Name: found.Name, Reason: found.Explanation}
	}

	for _, s := range found.Skipped {
		routed.Skipped = append(routed.Skipped, skippedRoute(s))
	}

	return routed, nil
}

func printRoutes(t *tool, routed []routedAlert) error {
	if len(routed) == 0 {
		t.infof("The body contains no alerts.")

		return nil
	}

	var out strings.Builder

	for i, r := range routed {
		if i > 0 {
			out.WriteString("\n")
		}

		r.write(&out)
	}

	return t.printf("%s", out.String())
}

func (r routedAlert) write(out *strings.Builder) {
	line := func(name, value string) { fmt.Fprintf(out, "%-13s%s\n", name, terminal.Line(cmp.Or(value, "-"))) }

	line("title", r.Title)
	line("severity", string(r.Severity))
	line("service", r.Service)
	line("namespace", r.Namespace)
	line("cluster", r.Cluster)
	line("team", r.Team)
	line("fingerprint", r.Fingerprint)

	for _, s := range r.Skipped {
		line("", fmt.Sprintf("%s does not match: %s, but the value is %q", routeName(s.Index, s.Name), s.Matcher, s.Value))
	}

	if r.Route != nil {
		line("route", fmt.Sprintf("%s, because %s", routeName(r.Route.Index, r.Route.Name), r.Route.Reason))
	} else {
		line("route", "none matches; the alert type decides")
	}

	line("alert type", r.AlertType)
	line("chain", r.ChainID)
	line("MCP servers", strings.Join(r.MCPServers, ", "))
	line("runbook", cmp.Or(r.RunbookURL, r.Runbook))

	if r.Resolved {
		line("", "The alert is resolved: it is not investigated.")
	}
}

// routeName returns a name for an entry of alerts.routes.
func routeName(index int, name string) string {
	if name == "" {
		return fmt.Sprintf("alerts.routes[%d]", index)
	}

	return fmt.Sprintf("alerts.routes[%d] (%s)", index, name)
}
