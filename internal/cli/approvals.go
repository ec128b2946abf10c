package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func approvalsCommand(t *tool) *cobra.Command {
	return listGroup(t, &cobra.Command{
		Use: "approvals", Aliases: []string{"approval"}, Short: "Approve or reject tool calls that wait for it",
		Example: `  tarsy approvals
  tarsy approvals show 94e9e51a62a9
  tarsy approvals approve 94e9e51a62a9
  tarsy approvals reject 94e9e51a62a9 --reason "wait for the maintenance window"`,
	}, &cobra.Command{
		Short: "List tool calls that wait for an approval, the first to expire first",
		Long: `Lists the tool calls that somebody can approve or reject now, with the exact arguments of each. With -o wide, or if the output is not
a terminal, it is a table. The list shows the last characters of each id, which every command accepts.`,
		Example: "  tarsy approvals list\n  tarsy approvals list --session 5f3a9c21\n  tarsy approvals list -o json | jq '.[].tool_arguments'",
	}, listingApprovals, showApprovalCommand(t), approveCommand(t), rejectCommand(t))
}

// listingApprovals sets up cmd to list approvals.
func listingApprovals(t *tool, cmd *cobra.Command) {
	r := newList(t, cmd)
	session := cmd.Flags().String("session", "", "only those of this session")
	r.completeFromServer(cmd, "session", newestSessions)

	r.run(cmd, func(ctx context.Context, c *client.Client, _ []string) error {
		var filter client.ApprovalFilter

		if *session != "" {
			id, err := c.Resolve(ctx, *session)
			if err != nil {
				return err
			}

			filter.SessionID = id
		}

		open, err := client.All(client.List(ctx, c, client.ListApprovals, filter, 0))
		err = showList(r, open, err, view[tarsy.ApprovalRequest]{
			none: "No tool calls wait for an approval.",
			columns: []column{
				{name: "ID"}, {name: "EXPIRES IN"}, {name: "TOOL", cut: true}, {name: "ARGUMENTS", cut: true}, {name: "AGENT", cut: true, optional: true},
				{name: "SESSION", optional: true}, {name: "TITLE", cut: true, optional: true},
			},
			row: func(a tarsy.ApprovalRequest) []string {
				return []string{
					short(a.ID), terminal.Age(time.Until(a.Approval.ExpiresAt)), a.ServerName + "." + a.ToolName, string(terminal.JSON(a.ToolArguments)), a.AgentName,
					short(a.SessionID), tarsy.AlertFacts{Title: a.Title}.TitleOr(a.AlertType),
				}
			},
			name: func(a tarsy.ApprovalRequest) string { return a.ID },
			entry: func(layout entryLayout, a tarsy.ApprovalRequest) []string {
				return append(approvalEntry(layout, a), "")
			},
		})

		if err == nil && len(open) > 0 && r.forPeople() {
			r.infof("Decide with: tarsy approvals approve ID, or: tarsy approvals reject ID --reason TEXT")
		}

		return err
	})
}

func showApprovalCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "show APPROVAL", Short: "Show a tool call that waits for an approval", Args: namedArgs,
		Example: "  tarsy approvals show 94e9e51a62a9\n  tarsy approvals show 94e9e51a62a9 -o json | jq .tool_arguments",
	}
	r := newRemote(t, cmd)
	r.offerApprovals(cmd)

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		found, err := c.FindApproval(ctx, args[0])

		switch {
		case err != nil:
			return err
		case found.SessionID == "":
			return tarsy.Errorf(tarsy.CodeApprovalNotFound, "the tool call %s does not wait for an approval", short(found.ID))
		case r.json():
			return r.printJSON(found)
		}

		layout := entryLayout{r.palette(r.Stdout), r.columns(r.Stdout)}
		lines := append(approvalEntry(layout, found),
			layout.fact("call", found.Call), layout.fact("rule", found.Approval.Rule), layout.fact("team", found.Team),
			layout.fact("asked", localTime(found.CreatedAt)), layout.fact("expires", localTime(found.Approval.ExpiresAt)))

		return r.printf("%s\n", strings.Join(slices.DeleteFunc(lines, func(line string) bool { return line == "" }), "\n"))
	})

	return cmd
}

// offerApprovals completes the argument of a command with the approvals that wait.
func (r *remote) offerApprovals(cmd *cobra.Command) {
	r.offerIDs(cmd, func(ctx context.Context, c *client.Client) ([]cobra.Completion, error) {
		return offerList(client.List(ctx, c, client.ListApprovals, client.ApprovalFilter{}, offered), func(a tarsy.ApprovalRequest) cobra.Completion {
			return cobra.CompletionWithDesc(short(a.ID), terminal.Line(approvalCall(a, nil)))
		})
	})
}

// approvalEntry returns a tool call with its whole name and its exact arguments, of which nothing is cut.
func approvalEntry(layout entryLayout, a tarsy.ApprovalRequest) []string {
	left := "expired"
	if a.Approval.Open(time.Now()) {
		left = "expires in " + terminal.Age(time.Until(a.Approval.ExpiresAt))
	}

	head := short(a.ID) + "  " + terminal.Line(a.ServerName+"."+a.ToolName)
	lines := terminal.Fold(head, layout.width)

	for i, line := range lines {
		lines[i] = layout.palette.Paint(terminal.Bold, line)
	}

	for line := range strings.SplitSeq(exactJSON(a.ToolArguments), "\n") {
		for _, part := range terminal.Fold(line, layout.width-len(entryIndent)) {
			lines = append(lines, entryIndent+part)
		}
	}

	return append(lines,
		layout.fact("state", layout.palette.Paint(terminal.Yellow, left)), layout.fact("agent", a.AgentName),
		layout.fact("session", short(a.SessionID)+"  "+tarsy.AlertFacts{Title: a.Title}.TitleOr(a.AlertType)))
}

const entryIndent = "  "

// fact returns a line about an entry that fits the terminal; empty without a value.
func (l entryLayout) fact(name, value string) string {
	const nameWidth = 9

	if value == "" {
		return ""
	}

	line := entryIndent + l.palette.Paint(terminal.Dim, terminal.Pad(name, nameWidth)) + terminal.Line(value)
	if l.width > 0 {
		line = terminal.Truncate(line, l.width)
	}

	return line
}

// exactJSON formats a JSON value on several lines, exact to the digit and safe to print.
func exactJSON(raw json.RawMessage) string {
	var text bytes.Buffer

	if json.Indent(&text, raw, "", "  ") != nil {
		return terminal.Line(string(raw))
	}

	return string(terminal.JSON(text.Bytes()))
}

// approvalCall returns a tool call on one line, with the arguments that a person set in place of the model's, unless they are nil.
func approvalCall(a tarsy.ApprovalRequest, changed json.RawMessage) string {
	arguments := a.ToolArguments
	if changed != nil {
		arguments = changed
	}

	var text bytes.Buffer

	if json.Compact(&text, arguments) != nil {
		return terminal.Line(a.ServerName + "." + a.ToolName)
	}

	return terminal.Line(a.ServerName+"."+a.ToolName) + " " + string(terminal.JSON(text.Bytes()))
}

func approveCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve APPROVAL", Short: "Let a tool call be made once", Args: namedArgs,
		Long: `Approves a tool call that waits. It is made once, with exactly the arguments that tarsy approvals list shows, or with those that
--arguments sets instead.`,
		Example: `  tarsy approvals approve 94e9e51a62a9
  tarsy approvals approve 94e9e51a62a9 --reason "checked with the owner"
  tarsy approvals approve 94e9e51a62a9 --arguments '{"deployment": "web", "replicas": 2}'
  tarsy approvals approve 94e9e51a62a9 --arguments @arguments.json`,
	}
	r := newRemote(t, cmd)
	r.offerApprovals(cmd)

	given := cmd.Flags().String("arguments", "", "a JSON object that replaces the arguments, or @ and the name of a file that contains it")
	reason := cmd.Flags().String("reason", "", "why, for others")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		arguments, err := readArguments(*given)
		if err != nil {
			return err
		}

		call, decided, err := decide(ctx, c, client.Approve, client.Approval{Arguments: arguments, Reason: *reason}, args[0])
		if err != nil {
			return err
		}

		return r.report(decided, decided.ID, "Approved: %s\nSee what it does with: tarsy watch %s", approvalCall(call, arguments), short(decided.SessionID))
	})

	return cmd
}

// decide makes a decision about the approval whose id begins or ends with part, and returns the call as it was before.
func decide[In any](
	ctx context.Context, c *client.Client, op client.Operation[In, client.Decision], decision In, part string,
) (tarsy.ApprovalRequest, client.Decision, error) {
	found, err := c.FindApproval(ctx, part)
	if err != nil {
		return found, client.Decision{}, err
	}

	decided, err := client.Call(ctx, c, op, decision, found.ID)

	return found, decided, err
}

// readArguments reads the arguments of a tool call from the value of a flag. It returns nil if the flag is not set.
func readArguments(given string) (json.RawMessage, error) {
	if given == "" {
		return nil, nil
	}

	text := given

	if name, isFile := strings.CutPrefix(given, "@"); isFile {
		content, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the arguments: %w", err)
		}

		text = string(content)
	}

	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil, usageError{errors.New("--arguments must be a JSON object, or @ and the name of a file that contains one")}
	}

	return json.RawMessage(text), nil
}

func rejectCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "reject APPROVAL", Short: "Decide against a tool call", Args: namedArgs,
		Long:    "Rejects a tool call that waits. The agent gets the reason and continues without the call.",
		Example: `  tarsy approvals reject 94e9e51a62a9 --reason "wait for the maintenance window"`,
	}
	r := newRemote(t, cmd)
	r.offerApprovals(cmd)

	reason := cmd.Flags().String("reason", "", "reason, which the agent sees")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if strings.TrimSpace(*reason) == "" {
			return usageError{errors.New("--reason is missing: the agent needs the reason for the rejection")}
		}

		call, decided, err := decide(ctx, c, client.Reject, client.Rejection{Reason: *reason}, args[0])
		if err != nil {
			return err
		}

		return r.report(decided, decided.ID, "Rejected: %s\nThe agent continues without the call.", approvalCall(call, nil))
	})

	return cmd
}
