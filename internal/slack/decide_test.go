package slack

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/notify"
)

// approvals has one waiting call, and counts how often it was approved.
type approvals struct {
	notify.Decisions

	call     tarsy.ApprovalRequest
	approved int
}

func (a *approvals) Approval(context.Context, string) (tarsy.ApprovalRequest, error) {
	return a.call, nil
}

func (a *approvals) Approve(context.Context, string, string, json.RawMessage, string) (tarsy.ApprovalRequest, error) {
	a.approved++

	return a.call, nil
}

// A message without the button cannot be clicked, but a button can predate the rule, or be forged.
func TestCallWhoseArgumentsAreCutIsNotApprovedByClick(t *testing.T) {
	t.Parallel()

	client, server, clock := newPaced(t)

	for name, test := range map[string]struct {
		arguments string
		want      int
	}{
		"whole": {`{"command": "ls"}`, 1},
		"cut":   {`{"command": "echo` + strings.Repeat(" ", 3000) + `; rm -rf /"}`, 0},
	} {
		desk := &approvals{call: tarsy.ApprovalRequest{ID: ident.New(), ToolArguments: json.RawMessage(test.arguments)}}
		b := New(Config{
			Client: client, Desk: desk, Approve: []string{"U1"}, Mask: func(text string) string { return text }, Clock: clock, Logger: slog.New(slog.DiscardHandler),
		})
		i := slack.InteractionCallback{Type: slack.InteractionTypeBlockActions, User: slack.User{ID: "U1"}}
		i.Channel.ID = "C0000000001"
		i.ActionCallback.BlockActions = []*slack.BlockAction{{ActionID: approveAction, Value: desk.call.ID}}

		b.handleInteraction(wait.Context(t), i)
		require.Equal(t, test.want, desk.approved, name)
	}

	require.Len(t, server.Journal("chat.postEphemeral"), 1, "only one of them is told why")
}
