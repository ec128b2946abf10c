package discord

import (
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/channel"
	"tarsy.dev/tarsy/internal/quiet"
	"tarsy.dev/tarsy/internal/writeback/message"
)

func TestAnnouncementsFollowTheRoutes(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 17, 23, 0, 0, 0, time.UTC)
	announce := Announce(channel.Routes{
		Channel: "1", Teams: map[string]string{"payments": "2"}, On: []message.Event{message.Started, message.Finished},
		Quiet: &quiet.Hours{From: 22 * time.Hour, To: 7 * time.Hour, Location: time.UTC, Except: []tarsy.Severity{tarsy.SeverityCritical}},
	}, clockwork.NewFakeClockAt(now))

	for _, tt := range []struct {
		team     string
		severity tarsy.Severity
		subject  tarsy.AnnouncementSubject
		status   tarsy.SessionStatus
		channel  string
		due      time.Time
	}{
		{"payments", "warning", tarsy.SubjectStart, tarsy.SessionInProgress, "2", now.Add(8 * time.Hour)},
		{"storage", "warning", tarsy.SubjectEnd, tarsy.SessionCompleted, "1", now.Add(8 * time.Hour)},
		{"", "critical", tarsy.SubjectEnd, tarsy.SessionCompleted, "1", now},
		{"", "critical", tarsy.SubjectEnd, tarsy.SessionFailed, "", now},
		{"", "critical", tarsy.SubjectEnd, tarsy.SessionCancelled, "", now},
	} {
		rows := announce(tarsy.Session{ID: "s", Status: tt.status, AlertFacts: tarsy.AlertFacts{Team: tt.team, Severity: tt.severity}}, tt.subject)
		if tt.channel == "" {
			require.Empty(t, rows)

			continue
		}

		require.Len(t, rows, 1)
		require.Equal(t, tt.channel, rows[0].Target)
		require.Equal(t, tt.due, rows[0].DueAt)
		require.Equal(t, tt.subject, rows[0].Subject)
	}
}

func TestThreadsAreNoChannelsOfAnnouncements(t *testing.T) {
	t.Parallel()

	routes := channel.Routes{Channel: "1", Teams: map[string]string{"payments": "2"}}
	require.True(t, routes.Has("1"))
	require.True(t, routes.Has("2"))
	require.False(t, routes.Has("3"))
}

func TestTemplateOfAnApprovalDoesNotHideThatItIsCut(t *testing.T) {
	t.Parallel()

	template, err := message.Parse("`{{.Approval.Arguments}}` {{.Approval.Tool}}", false)
	require.NoError(t, err)

	m := message.Message{Event: message.ApprovalNeeded, Approval: message.Approval{Tool: "a*b", Arguments: "{\"note\": \"` **x**\"}"}}
	require.Equal(t, "`{\"note\": \"ˋ **x**\"}` a\\*b", render(template, m)) //nolint:testifylint // it is no JSON

	m.Approval.Arguments = message.Arguments(strings.Repeat("x", 5000))
	require.True(t, strings.HasSuffix(render(template, m), saidCut))
	require.LessOrEqual(t, tarsy.UTF16Len(render(template, m)), maxMessage)
}
