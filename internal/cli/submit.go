package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

type submission struct {
	*remote

	message    string
	alertType  string
	runbook    string
	runbookURL string
	servers    []string
	key        string
	wait       bool
}

func submitCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "submit [FILE|-]", Short: "Submit an alert", GroupID: groupClient, Args: namedArgs,
		Long: `Submits an alert from a file, from stdin (-) or from the command line (-m), and prints the id of its session.
A JSON object or list is sent as structured data, anything else as text.

If the connection fails or the server is unavailable, it tries again, at most twice. The alert is stored once: each submission has an
idempotency key, a random one unless --idempotency-key is given. A script that may run twice passes its own.

With --wait it follows the session, prints the verdict and the final analysis, and exits with code 5 if the session does not complete.

Where alerts.deduplicate.text is set, a repeated text is counted on the session that investigates it, whose id is printed, and a silenced
one has no session: nothing is printed on stdout, and --wait exits with code 5.`,
		Example: `  tarsy submit -m "checkout has been slow since 9:30"
  tarsy submit alert.json --type pod-oom-killed --runbook runbook.md --wait
  kubectl get events -A -o json | tarsy submit - --mcp kubernetes-server
  tarsy submit -m "disk is full" --mcp metrics:query,labels --mcp logs -o json`,
	}
	s := &submission{remote: newRemote(t, cmd)}
	flags := cmd.Flags()
	flags.StringVarP(&s.message, "message", "m", "", "the alert as text")
	flags.StringVar(&s.alertType, "type", "", "alert type (default: the server's default)")
	flags.StringVar(&s.runbook, "runbook", "", "file with a runbook for the agents")
	flags.StringVar(&s.runbookURL, "runbook-url", "", "URL of a runbook")
	flags.StringArrayVar(&s.servers, "mcp", nil, "limit to this MCP server of the chain, as server or server:tool,tool; may be repeated")
	flags.StringVar(&s.key, "idempotency-key", "", "submit once per key: repeating the command within 24 hours returns the same session")
	flags.BoolVarP(&s.wait, "wait", "w", false, "follow the session until it ends and print the verdict and the final analysis")
	cmd.MarkFlagsMutuallyExclusive("runbook", "runbook-url")
	s.completeTypes(cmd)

	s.run(cmd, s.submit)

	return cmd
}

func (s *submission) submit(ctx context.Context, c *client.Client, args []string) error {
	alert, err := s.alert(args)
	if err != nil {
		return err
	}

	accepted, err := client.Create(ctx, c, client.SubmitAlert, s.key, alert)
	if err != nil {
		return err
	}

	return s.finish(ctx, c, accepted)
}

// finish prints the new session, or waits until it ends.
func (s *submission) finish(ctx context.Context, c *client.Client, accepted client.Accepted) error {
	outcome := "Submitted. "

	if len(accepted.Alerts) > 0 && accepted.Alerts[0].Action != tarsy.ActionInvestigate {
		outcome = ""

		s.infof("%s", terminal.Line(accepted.Message))
	}

	switch {
	case s.wait && accepted.SessionID != "":
		return s.follow(ctx, c, accepted)
	case s.json():
		return errors.Join(s.printJSON(accepted), s.notInvestigated(accepted))
	case accepted.SessionID == "":
		return s.notInvestigated(accepted)
	}

	s.infof("%sFollow it with: %s watch %s", outcome, s.Name, accepted.SessionID)
	s.infof("Or in the browser: %s", sessionPage(c, accepted))

	return s.printf("%s\n", accepted.SessionID)
}

// notInvestigated returns an error if the command should wait but the alert is not investigated.
func (s *submission) notInvestigated(accepted client.Accepted) error {
	if s.wait && accepted.SessionID == "" {
		return notCompletedError{"was not investigated"}
	}

	return nil
}

// sessionPage returns the page of a new session: the URL from the server, else one at the client's server address.
func sessionPage(c *client.Client, accepted client.Accepted) string {
	if accepted.SessionURL != "" {
		return terminal.Line(accepted.SessionURL)
	}

	return c.SessionPage(accepted.SessionID)
}

var (
	errNoAlert   = errors.New("no alert given: name a file, use - for stdin, or pass the text with -m")
	errTwoAlerts = errors.New("the alert is given twice: with -m and as a file")
	errBadServer = errors.New("--mcp must be server or server:tool,tool")
)

func (s *submission) alert(args []string) (client.Alert, error) {
	alert := client.Alert{AlertType: s.alertType, RunbookURL: s.runbookURL}

	text, err := s.text(args)
	if err != nil {
		return alert, err
	}

	alert.Data = client.AlertData(text)

	if s.runbook != "" {
		runbook, err := os.ReadFile(s.runbook)
		if err != nil {
			return alert, fmt.Errorf("read the runbook: %w", err)
		}

		alert.Runbook = string(runbook)
	}

	alert.MCPSelection, err = selection(s.servers)

	return alert, err
}

// text returns the alert as given.
func (s *submission) text(args []string) (string, error) {
	switch {
	case s.message != "" && len(args) > 0:
		return "", usageError{errTwoAlerts}
	case s.message != "":
		return s.message, nil
	case len(args) == 0:
		return "", usageError{errNoAlert}
	}

	// One byte over the limit, so that the server rejects an alert that is too long.
	limit := func(r io.Reader) io.Reader { return io.LimitReader(r, tarsy.MaxAlertBytes+1) }

	if args[0] == "-" {
		text, err := io.ReadAll(limit(s.Stdin))
		if err != nil {
			return "", fmt.Errorf("read the alert from stdin: %w", err)
		}

		return string(text), nil
	}

	file, err := os.Open(args[0])
	if err != nil {
		return "", fmt.Errorf("read the alert: %w", err)
	}

	defer func() { _ = file.Close() }()

	text, err := io.ReadAll(limit(file))
	if err != nil {
		return "", fmt.Errorf("read the alert: %w", err)
	}

	return string(text), nil
}

func selection(texts []string) (*tarsy.MCPSelection, error) {
	if len(texts) == 0 {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	selected := &tarsy.MCPSelection{}

	for _, text := range texts {
		name, list, hasTools := strings.Cut(text, ":")
		server := tarsy.MCPServerSelection{Name: strings.TrimSpace(name)}

		if hasTools {
			for tool := range strings.SplitSeq(list, ",") {
				server.Tools = append(server.Tools, strings.TrimSpace(tool))
			}
		}

		if server.Name == "" || len(server.Tools) > 0 && strings.Join(server.Tools, "") == "" {
			return nil, usageError{fmt.Errorf("%w, not %q", errBadServer, text)}
		}

		selected.Servers = append(selected.Servers, server)
	}

	return selected, nil
}

// follow waits until the session ends and prints its result.
func (s *submission) follow(ctx context.Context, c *client.Client, accepted client.Accepted) error {
	s.infof("Session %s. Ctrl-C stops waiting; the session continues.", accepted.SessionID)
	s.infof("In the browser: %s", sessionPage(c, accepted))

	detail, err := c.Session(ctx, accepted.SessionID)
	if err != nil {
		return err
	}

	s.infof("%s", headline(detail))

	lines, _ := s.lines(s.Stderr, detail)
	lines.Last = true

	for update, err := range c.Follow(ctx, accepted.SessionID, 0) {
		if err != nil {
			return err
		}

		s.printConnection(update)
		lines.Take(update)
	}

	detail, err = c.Session(ctx, accepted.SessionID)
	if err != nil {
		return err
	}

	if detail.FinalAnalysis == "" {
		lines.Flush() // findings from before the failure
	}

	err = s.result(detail)
	if err == nil && detail.Status != tarsy.SessionCompleted {
		return notCompletedError{string(detail.Status)}
	}

	return err
}

// result prints the result of a session.
func (s *submission) result(detail tarsy.SessionDetail) error {
	if s.json() {
		return s.printJSON(detail)
	}

	if detail.Verdict != nil {
		if err := s.printVerdict(*detail.Verdict); err != nil {
			return err
		}
	}

	if detail.FinalAnalysis == "" {
		return nil
	}

	return s.printMarkdown(detail.FinalAnalysis)
}

// headline returns the alert of a session in one line.
func headline(s tarsy.SessionDetail) string {
	line := "Alert: " + terminal.Line(s.TitleOr(s.AlertType))

	var facts []string

	for _, fact := range []string{string(s.Severity), s.Place(), s.Cluster, s.Team} {
		if fact != "" {
			facts = append(facts, terminal.Line(fact))
		}
	}

	if len(facts) > 0 {
		line += " (" + strings.Join(facts, ", ") + ")"
	}

	return line
}

// printConnection reports changes of the connection.
func (o *output) printConnection(update client.Update) {
	switch {
	case update.Lost != nil:
		o.infof("-- connection lost (%s); reconnecting --", line(update.Lost))
	case update.Back:
		o.infof("-- reconnected; catching up --")
	}
}
