package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
)

func approvalsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "approvals", Short: "Approve or reject tool calls that wait for it",
		Long: "Without a command it lists the tool calls that wait for an approval, as tarsy approvals list does.",
		Example: `  tarsy approvals
  tarsy approvals approve 94e9e51a62a9
  tarsy approvals reject 94e9e51a62a9 --reason "wait for the maintenance window"`,
	}
	listingApprovals(t, cmd)

	return group(cmd, listApprovalsCommand(t), approveCommand(t), rejectCommand(t))
}

func listApprovalsCommand(t *tool) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List tool calls that wait for an approval, the first to expire first", Args: namedArgs,
		Long: `Lists the tool calls that somebody can approve or reject now, with the exact arguments of each.
The list shows the last characters of each id, which every command accepts.`,
		Example: "  tarsy approvals list\n  tarsy approvals list --session 5f3a9c21\n  tarsy approvals list -o json | jq '.[].tool_arguments'",
	}
	listingApprovals(t, cmd)

	return cmd
}

// listingApprovals sets up cmd to list approvals.
func listingApprovals(t *tool, cmd *cobra.Command) {
	r := newRemote(t, cmd)
	session := cmd.Flags().String("session", "", "only those of this session")

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
		err = showTable(r, open, err, view[tarsy.ApprovalRequest]{
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
		})

		if err == nil && len(open) > 0 && !r.json() {
			r.infof("Decide with: tarsy approvals approve ID, or: tarsy approvals reject ID --reason TEXT")
		}

		return err
	})
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
	given := cmd.Flags().String("arguments", "", "a JSON object that replaces the arguments, or @ and the name of a file that contains it")
	reason := cmd.Flags().String("reason", "", "why, for others")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		arguments, err := readArguments(*given)
		if err != nil {
			return err
		}

		decided, err := decide(ctx, c, client.Approve, client.Approval{Arguments: arguments, Reason: *reason}, args[0])
		if err != nil {
			return err
		}

		return r.report(decided, decided.ID, "Approved. See what it does with: tarsy watch %s", short(decided.SessionID))
	})

	return cmd
}

// decide makes a decision about the approval whose id begins or ends with part.
func decide[In any](ctx context.Context, c *client.Client, op client.Operation[In, client.Decision], decision In, part string) (client.Decision, error) {
	id, err := c.ResolveApproval(ctx, part)
	if err != nil {
		return client.Decision{}, err
	}

	return client.Call(ctx, c, op, decision, id)
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
	reason := cmd.Flags().String("reason", "", "reason, which the agent sees")

	r.run(cmd, func(ctx context.Context, c *client.Client, args []string) error {
		if strings.TrimSpace(*reason) == "" {
			return usageError{errors.New("--reason is missing: the agent needs the reason for the rejection")}
		}

		decided, err := decide(ctx, c, client.Reject, client.Rejection{Reason: *reason}, args[0])
		if err != nil {
			return err
		}

		return r.report(decided, decided.ID, "Rejected. The agent continues without the call.")
	})

	return cmd
}
