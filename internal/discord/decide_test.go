package discord

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/discord"
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

func (a *approvals) Approvals(context.Context, string, tarsy.Visibility) ([]tarsy.ApprovalRequest, error) {
	return []tarsy.ApprovalRequest{a.call}, nil
}

func (a *approvals) Approve(context.Context, string, string, json.RawMessage, string) (tarsy.ApprovalRequest, error) {
	a.approved++

	return a.call, nil
}

func TestOnlyListedUsersAndRolesApproveWhatIsShown(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.NotFoundHandler()) // replies are lost
	t.Cleanup(server.Close)

	client, err := discord.NewClient(discord.ClientConfig{Token: "token", API: server.URL, Gateway: "ws://127.0.0.1:1"})
	require.NoError(t, err)
	t.Cleanup(client.Close)

	cut := `{"command": "echo` + strings.Repeat(" ", 3000) + `; rm -rf /"}`

	for name, test := range map[string]struct {
		author    string
		roles     []string
		arguments string
		want      int
	}{
		"user":         {"1", nil, `{}`, 1},
		"role":         {"9", []string{"7", "2"}, `{}`, 1},
		"other role":   {"9", []string{"7"}, `{}`, 0},
		"without role": {"9", nil, `{}`, 0},
		"cut":          {"1", nil, cut, 0},
	} {
		desk := &approvals{call: tarsy.ApprovalRequest{ID: ident.New(), Call: "1.1.1", ToolArguments: json.RawMessage(test.arguments)}}
		b := New(Config{
			Client: client, Desk: desk, Clock: clockwork.NewRealClock(), Approve: []string{"1", "2"}, Mask: func(text string) string { return text }, Logger: slog.New(slog.DiscardHandler),
		})

		b.decide(wait.Context(t), discord.Message{ChannelID: "3", MessageID: "4", AuthorID: test.author, RoleIDs: test.roles}, ident.New(), decision{approve: true, call: "1.1.1"})
		require.Equal(t, test.want, desk.approved, name)
	}
}

func TestErrorsAfterWhichAnAnnouncementIsGivenUp(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		subject tarsy.AnnouncementSubject
		status  int
		want    bool
	}{
		{tarsy.SubjectStart, http.StatusForbidden, false},
		{tarsy.SubjectStart, http.StatusNotFound, false},
		{tarsy.SubjectEnd, http.StatusForbidden, false},
		{tarsy.SubjectEnd, http.StatusNotFound, false},
		{tarsy.SubjectEnd, http.StatusBadRequest, true},
		{tarsy.SubjectAnswer, http.StatusForbidden, true},
		{tarsy.SubjectAnswer, http.StatusNotFound, true},
		{tarsy.SubjectAnswer, http.StatusUnauthorized, false},
		{tarsy.SubjectAnswer, http.StatusBadGateway, false},
	} {
		a := &tarsy.Announcement{Subject: test.subject}
		require.Equal(t, test.want, permanent(a, &discord.APIError{Status: test.status}), "%s %d", test.subject, test.status)
	}
}
