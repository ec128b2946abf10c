package discord

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestDecisionsAreReadFromMessages(t *testing.T) {
	t.Parallel()

	for content, want := range map[string]decision{
		"!approve 1.2.3":                  {approve: true, call: "1.2.3"},
		" !Approve  1.2.3  it is checked": {approve: true, call: "1.2.3", reason: "it is checked"},
		"!reject 1.2.3 wait\nuntil noon":  {call: "1.2.3", reason: "wait\nuntil noon"},
		"!reject 1.2.3":                   {call: "1.2.3"},
		"!approve":                        {approve: true},
		"!reject":                         {},
	} {
		got, ok := parseDecision(content)
		require.True(t, ok, content)
		require.Equal(t, want, got, content)
	}

	for _, content := range []string{"", "approve 1.2.3", "!approved 1", "please !approve 1.2.3", "! approve 1", "!rejects"} {
		_, ok := parseDecision(content)
		require.False(t, ok, content)
	}
}

func TestRequestForApprovalFitsInOneMessageAndShowsHostileTextAsItIs(t *testing.T) {
	t.Parallel()

	s := newTestSender(Config{Approve: []string{"1"}})

	for name, arguments := range map[string]any{
		"long": strings.Repeat("x", 5000), "fences": strings.Repeat("```", 1000), "emoji": strings.Repeat("😀", 3000), "invisible": strings.Repeat("\u202e", 3000),
		"short": "@everyone ```", "blanks": "echo" + strings.Repeat(" ", 60) + "; rm -rf /",
	} {
		raw, err := json.Marshal(map[string]any{"text": arguments})
		require.NoError(t, err)

		said := s.approvalText(tarsy.ApprovalRequest{
			Title: strings.Repeat("*", 500), AgentName: strings.Repeat("_", 500), ServerName: strings.Repeat("`", 300), ToolName: "scale", Call: "1.2.3", ToolArguments: raw,
		})
		require.LessOrEqual(t, tarsy.UTF16Len(said), maxMessage, name)
		require.Equal(t, 2, strings.Count(said, fence), name)
		require.NotContains(t, said, "\u202e", name)
		require.Equal(t, name != "short", strings.Contains(said, "longer than what is shown"), name)
		require.Equal(t, name == "short", strings.Contains(said, "`!approve 1.2.3`"), name)
		require.Contains(t, said, "`!reject 1.2.3 reason`", name)
	}

	require.NotContains(t, newTestSender(Config{}).approvalText(tarsy.ApprovalRequest{Call: "1.2.3"}), "!approve", "nobody can decide here")
}

func newTestSender(cfg Config) *sender {
	cfg.SessionURL, cfg.Logger = func(string) string { return "https://tarsy.example.org/sessions/1" }, slog.New(slog.DiscardHandler)

	return &sender{cfg: cfg}
}
