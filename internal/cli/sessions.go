package cli

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/cli/watch"
	"tarsy.dev/tarsy/internal/client"
)

func sessionsCommand(t *tool) *cobra.Command {
	return listGroup(t, &cobra.Command{
		Use: "sessions", Aliases: []string{"session"}, Short: "List, show, handle, cancel, share and delete sessions",
		Example: `  tarsy sessions list --status in_progress,pending
  tarsy sessions list --order attention
  tarsy sessions show 5f3a9c21
  tarsy sessions ack 5f3a9c21 77b0e1d4
  tarsy sessions resolve 5f3a9c21 --note "restarted the pod"
  tarsy sessions cancel 5f3a9c21
  tarsy sessions share 5f3a9c21 --for 24h
  tarsy sessions delete 5f3a9c21`,
	}, &cobra.Command{
		Short: "List sessions, newest first",
		Long: `Lists sessions, newest first; with --search the best matches first, with the matching words in brackets.
In a terminal each session has two lines: its severity, title and status, and its cause. With -o wide, or if the output is not a
terminal, it is a table. The list shows the last characters of each id, which every command accepts; -o name prints whole ids.`,
		Example: `  tarsy sessions list
  tarsy sessions list --status in_progress,pending
  tarsy sessions list --outcome needs_human,inconclusive
  tarsy sessions list --waiting-approval
  tarsy sessions list --handling open,acknowledged --assignee me
  tarsy sessions list --severity critical --team payments --label env=prod
  tarsy sessions list --type pod-oom-killed --search checkout --all -o json`,
	}, listingSessions, showSessionCommand(t), cancelSessionCommand(t), shareSessionCommand(t), deleteSessionCommand(t),
		acknowledgeSessionsCommand(t), resolveSessionsCommand(t), reopenSessionsCommand(t), assignSessionsCommand(t), tagSessionsCommand(t))
}

// listingSessions sets up cmd to list sessions.
func listingSessions(t *tool, cmd *cobra.Command) {
	r := newList(t, cmd)

	filter := filterFlags(r, cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&filter.Statuses, "status", nil, "only these statuses, separated by commas")
	flags.StringSliceVar(&filter.Outcomes, "outcome", nil, "only these outcomes, separated by commas: cause_found, probable_cause, inconclusive, false_alarm, needs_human")
	handlingFlags(cmd, filter)
	order := newChoice(string(tarsy.OrderNewest), string(tarsy.OrderAttention))
	flags.Var(order, "order", "what comes first: newest, or attention: sessions that wait for an approval, then running, failed, waiting and other ones")
	paging := addListFlags(cmd, "sessions")

	offer(cmd, "status", tarsy.SessionStatuses())
	completeOutcomes(cmd)
	offer(cmd, "order", order.allowed)

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		limit, err := paging.limit()
		if err != nil {
			return err
		}

		filter.Order = tarsy.SessionOrder(order.value)

		sessions, err := client.All(client.List(ctx, c, client.ListSessions, *filter, limit))
		if r.forPeople() && slices.ContainsFunc(sessions, func(s tarsy.SessionItem) bool { return s.Status == tarsy.SessionPending }) {
			defer printPauses(ctx, r, c)
		}

		return showList(r, sessions, err, sessionView(sessions))
	})
}

// waitingFlag is a flag that restricts a filter to sessions with open approvals.
type waitingFlag struct{ filter *client.Filter }

// String implements pflag.Value.
func (w waitingFlag) String() string {
	return strconv.FormatBool(w.filter != nil && w.filter.Approvals != "")
}

// Set implements pflag.Value.
func (w waitingFlag) Set(text string) error {
	waiting, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("must be true or false")
	}

	w.filter.Approvals = ""
	if waiting {
		w.filter.Approvals = tarsy.ApprovalWaiting
	}

	return nil
}

// Type implements pflag.Value.
func (waitingFlag) Type() string { return "bool" }

// filterFlags adds the flags that select sessions by their alerts.
func filterFlags(r *remote, cmd *cobra.Command) *client.Filter {
	filter, flags := &client.Filter{}, cmd.Flags()
	flags.Var(waitingFlag{filter}, "waiting-approval", "only sessions with tool calls that wait for an approval")
	flags.Lookup("waiting-approval").NoOptDefVal = "true"
	flags.StringVar(&filter.AlertType, "type", "", "only this alert type")
	flags.StringVar(&filter.Severity, "severity", "", "only this severity: critical, high, warning or info")
	flags.StringVar(&filter.Service, "service", "", "only this service")
	flags.StringVar(&filter.Namespace, "namespace", "", "only this namespace")
	flags.StringVar(&filter.Cluster, "cluster", "", "only this cluster")
	flags.StringVar(&filter.Team, "team", "", "only this team")
	flags.StringVar(&filter.Fingerprint, "fingerprint", "", "only the alert with this fingerprint")
	flags.StringArrayVar(&filter.Labels, "label", nil, "only alerts with this label, as name=value; can be repeated")
	flags.StringVar(&filter.Search, "search", "", "only sessions whose title, alert, cause, analysis, summary or error contain these words, best matches first")
	r.completeTypes(cmd)
	offer(cmd, "severity", tarsy.Severities())

	return filter
}

// shortID is how many characters of an id are shown: the last ones, because ids created at about the same time share a prefix.
const shortID = 12

func short(id string) string { return id[max(0, len(id)-shortID):] }

// sessionView describes how sessions are listed; search results include what matched.
func sessionView(sessions []tarsy.SessionItem) view[tarsy.SessionItem] {
	text := column{name: "SUMMARY", cut: true}
	if len(sessions) > 0 && sessions[0].Match != nil {
		text.name = "MATCH"
	}

	return view[tarsy.SessionItem]{
		none: "No sessions found.",
		columns: []column{
			{name: "ID"}, {name: "STATUS", style: sessionStatusStyle}, {name: "OUTCOME", style: outcomeStyle, optional: true}, {name: "HANDLING", style: handlingStyle, cut: true, optional: true}, {name: "SEVERITY", style: severityStyle, optional: true}, {name: "TITLE", cut: true},
			{name: "SERVICE", cut: true, optional: true}, {name: "TAGS", cut: true, optional: true}, {name: "AGE"}, {name: "TOOK", optional: true}, {name: "COST", optional: true}, text,
		},
		row:   sessionRow,
		name:  func(s tarsy.SessionItem) string { return s.ID },
		entry: sessionEntry,
	}
}

// waitsForApproval replaces the status of a session that is blocked until somebody decides.
const waitsForApproval = "waits for approval"

func sessionStatusStyle(status string) terminal.Style {
	if status == waitsForApproval {
		return terminal.Yellow
	}

	return watch.StatusStyle(tarsy.SessionStatus(strings.ReplaceAll(status, " ", "_")))
}

func sessionStatus(s tarsy.SessionItem) string {
	if s.WaitingApprovals > 0 {
		return waitsForApproval
	}

	return readable(string(s.Status))
}

func sessionRow(s tarsy.SessionItem) []string {
	const titleWidth, summaryWidth = 60, 60

	text := terminal.Truncate(terminal.Line(cmp.Or(s.Cause, s.ExecutiveSummary, s.ErrorMessage)), summaryWidth)
	if s.Match != nil {
		text = marked(s.Match.Snippet)
	}

	return []string{
		short(s.ID), sessionStatus(s), s.Outcome.Words(), handlingCell(s.Handling), string(s.Severity), terminal.Truncate(sessionTitle(s), titleWidth) + occurrences(s),
		s.Place(), tagsCell(s.Handling), terminal.Age(time.Since(s.CreatedAt)), sessionTook(s), cost(s.Usage), text,
	}
}

func sessionTitle(s tarsy.SessionItem) string { return terminal.Line(s.TitleOr(s.AlertType)) }

// occurrences returns how often the alert was sent, if it was sent more than once.
func occurrences(s tarsy.SessionItem) string {
	if s.Alert == nil || s.Alert.Occurrences <= 1 {
		return ""
	}

	return " ×" + strconv.FormatInt(s.Alert.Occurrences, 10)
}

// sessionTook returns how long a session took, or for how long it has been running.
func sessionTook(s tarsy.SessionItem) string {
	switch {
	case s.StartedAt == nil:
		return ""
	case s.CompletedAt == nil:
		return terminal.Clock(time.Since(*s.StartedAt))
	default:
		return terminal.Duration(s.CompletedAt.Sub(*s.StartedAt))
	}
}

func outcomeStyle(cell string) terminal.Style {
	at := slices.IndexFunc(tarsy.Outcomes(), func(o tarsy.Outcome) bool { return o.Words() == cell })
	if at < 0 {
		return terminal.Plain
	}

	return watch.OutcomeStyle(tarsy.Outcomes()[at])
}

func severityStyle(cell string) terminal.Style { return watch.SeverityStyle(tarsy.Severity(cell)) }

// marked returns a snippet on one line, with the matches in brackets.
func marked(snippet []tarsy.SnippetPart) string {
	const width = 120

	var line strings.Builder

	for _, part := range snippet {
		text := terminal.Clean(part.Text)
		if part.Match {
			text = "[" + text + "]"
		}

		line.WriteString(text)
	}

	return terminal.Truncate(terminal.Line(line.String()), width)
}

// cost formats the known cost: a dash if there are no prices, a plus if some are missing, and nothing without usage.
func cost(u tarsy.Usage) string {
	switch {
	case u.TotalTokens == 0:
		return ""
	case u.UnpricedTokens == 0:
		return tarsy.FormatUSD(u.CostUSD)
	case u.CostUSD == 0:
		return "—"
	default:
		return tarsy.FormatUSD(u.CostUSD) + "+"
	}
}

func readable(status string) string { return strings.ReplaceAll(status, "_", " ") }

func showSessionCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show SESSION", Short: "Show a session: verdict, stages, analysis and questions", Args: namedArgs,
		Example: "  tarsy sessions show 5f3a9c21\n  tarsy sessions show 5f3a9c21 -o json | jq -r .final_analysis",
	}
	r := newRemote(t, cmd)

	r.onSession(cmd, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		detail, err := c.Session(ctx, id)
		if err != nil {
			return err
		}

		if r.json() {
			return t.printJSON(detail)
		}

		var timeline client.Timeline

		if detail.Chat != nil {
			if timeline, err = c.Timeline(ctx, id); err != nil {
				return err
			}
		}

		return t.printf("%s", describe(t, detail, timeline.Events))
	})

	return cmd
}

func deleteSessionCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete SESSION", Short: "Delete a finished session", Args: namedArgs,
		Long:    "Deletes a finished session. This cannot be undone, and there is no confirmation prompt.",
		Example: "  tarsy sessions delete 5f3a9c21",
	}
	r := newRemote(t, cmd)

	r.onSession(cmd, func(ctx context.Context, c *client.Client, id string, _ []string) error {
		if _, err := client.Call(ctx, c, client.DeleteSession, nil, id); err != nil {
			return err
		}

		return r.report(map[string]string{"session_id": id}, id, "Deleted.")
	})

	return cmd
}
