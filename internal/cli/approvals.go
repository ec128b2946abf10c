package cli

import (
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

func (t *tool) approvals() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approvals", Short: "Approve or reject tool calls that wait for it", GroupID: groupClient, Args: onlyCommands,
		Long: "Without a command it lists the tool calls that wait for an approval, as tarsy approvals list does.",
		Example: `  tarsy approvals
  tarsy approvals approve 94e9e51a62a9
  tarsy approvals reject 94e9e51a62a9 --reason "wait for the maintenance window"`,
	}
	t.listingApprovals(cmd)
	cmd.AddCommand(t.listApprovals(), t.approve(), t.reject())

	return cmd
}

func (t *tool) listApprovals() *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List tool calls that wait for an approval, the first to expire first", Args: namedArgs,
		Long: `Lists the tool calls that somebody can approve or reject now, with the exact arguments of each.
The list shows the last characters of each id, which every command accepts.`,
		Example: "  tarsy approvals list\n  tarsy approvals list --session 5f3a9c21\n  tarsy approvals list -o json | jq '.[].tool_arguments'",
	}
	t.listingApprovals(cmd)

	return cmd
}

// listingApprovals makes a command list approvals.
func (t *tool) listingApprovals(cmd *cobra.Command) {
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	session := cmd.Flags().String("session", "", "only those of this session")

	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		id := ""
		if *session != "" {
			if id, err = c.Resolve(cmd.Context(), *session); err != nil {
				return err
			}
		}

		open, err := client.All(client.List(cmd.Context(), c, client.ListApprovals, client.ApprovalFilter{SessionID: id}, 0))
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(append([]tarsy.ApprovalRequest{}, open...))
		}

		if len(open) == 0 {
			t.infof("No tool calls wait for an approval.")

			return nil
		}

		if err := t.printApprovals(open); err != nil {
			return err
		}

		t.infof("Decide with: tarsy approvals approve ID, or: tarsy approvals reject ID --reason TEXT")

		return nil
	}
}

func (t *tool) printApprovals(open []tarsy.ApprovalRequest) error {
	rows := make([][]string, len(open))
	for i, a := range open {
		rows[i] = []string{
			short(a.ID), terminal.Age(time.Until(a.Approval.ExpiresAt)), a.ServerName + "." + a.ToolName, string(terminal.JSON(a.ToolArguments)), a.AgentName,
			short(a.SessionID), tarsy.AlertFacts{Title: a.Title}.TitleOr(a.AlertType),
		}
	}

	return t.table([]column{
		{name: "ID"}, {name: "EXPIRES IN"}, {name: "TOOL", cut: true}, {name: "ARGUMENTS", cut: true}, {name: "AGENT", cut: true, optional: true},
		{name: "SESSION", optional: true}, {name: "TITLE", cut: true, optional: true},
	}, rows)
}

func (t *tool) approve() *cobra.Command {
	cmd := &cobra.Command{
		Use: "approve APPROVAL", Short: "Let a tool call be made once", Args: namedArgs,
		Long: `Approves a tool call that waits. It is made once, with exactly the arguments that tarsy approvals list shows, or with those that
--arguments sets instead.`,
		Example: `  tarsy approvals approve 94e9e51a62a9
  tarsy approvals approve 94e9e51a62a9 --reason "checked with the owner"
  tarsy approvals approve 94e9e51a62a9 --arguments '{"deployment": "web", "replicas": 2}'
  tarsy approvals approve 94e9e51a62a9 --arguments @arguments.json`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	given := cmd.Flags().String("arguments", "", "a JSON object that replaces the arguments, or @ and the name of a file that contains it")
	reason := cmd.Flags().String("reason", "", "why, for others")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		arguments, err := readArguments(*given)
		if err != nil {
			return err
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		id, err := c.ResolveApproval(cmd.Context(), args[0])
		if err != nil {
			return err
		}

		decided, err := client.Call(cmd.Context(), c, client.Approve, client.Approval{Arguments: arguments, Reason: *reason}, id)
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(decided)
		}

		t.infof("Approved. See what it does with: tarsy watch %s", short(decided.SessionID))

		return t.printf("%s\n", decided.ID)
	}

	return cmd
}

// readArguments reads the arguments of a tool call from a flag; nil if it is not set.
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

func (t *tool) reject() *cobra.Command {
	cmd := &cobra.Command{
		Use: "reject APPROVAL", Short: "Decide against a tool call", Args: namedArgs,
		Long:    "Rejects a tool call that waits. The agent is told the reason and continues without the call.",
		Example: `  tarsy approvals reject 94e9e51a62a9 --reason "wait for the maintenance window"`,
	}
	connection, format := connectionFlags(cmd), outputFlag(cmd)
	reason := cmd.Flags().String("reason", "", "why; the agent is told")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if strings.TrimSpace(*reason) == "" {
			return usageError{errors.New("--reason is missing: the agent is told why its call was rejected")}
		}

		c, err := connection.open()
		if err != nil {
			return err
		}
		defer c.Close()

		id, err := c.ResolveApproval(cmd.Context(), args[0])
		if err != nil {
			return err
		}

		decided, err := client.Call(cmd.Context(), c, client.Reject, client.Rejection{Reason: *reason}, id)
		if err != nil {
			return err
		}

		if format.value == formatJSON {
			return t.printJSON(decided)
		}

		t.infof("Rejected. The agent continues without the call.")

		return t.printf("%s\n", decided.ID)
	}

	return cmd
}
