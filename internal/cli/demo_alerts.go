package cli

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/kit/demo/story"
)

// demoResult is the result of sending the demo's alerts.
type demoResult struct {
	sessions []demoSession
	silenced []tarsy.DeliveredAlert
}

// demoSession is a session that an alert created.
type demoSession struct {
	story, id, title string
	// note describes what else happened to the alert; empty if nothing did.
	note string
}

// sessionOf returns the session of a story.
func (s *demoResult) sessionOf(story string) string {
	i := slices.IndexFunc(s.sessions, func(session demoSession) bool { return session.story == story })
	if i < 0 {
		return ""
	}

	return s.sessions[i].id
}

// example returns the id of a session that users can ask about, or a placeholder.
func (s *demoResult) example() string {
	if len(s.sessions) == 0 {
		return "SESSION"
	}

	return short(s.sessions[0].id)
}

// sendAlerts sends the example alerts like real senders: by webhook, and one as text.
func sendAlerts(ctx context.Context, c *client.Client, cluster string) (*demoResult, error) {
	sent := &demoResult{}

	for _, d := range story.Deliveries(cluster) {
		result, err := c.Deliver(ctx, string(tarsy.SourceAlertmanager), story.Receiver, nil, d.Body)
		if err != nil {
			return sent, fmt.Errorf("deliver the alerts of %s: %w", d.Story, err)
		}

		for _, alert := range result.Alerts {
			sent.add(d.Story, alert)
		}
	}

	for _, text := range story.Texts() {
		accepted, err := client.Create(ctx, c, client.SubmitAlert, "", client.Alert{AlertType: text.AlertType, Data: text.Data, Runbook: text.Runbook})
		if err != nil {
			return sent, fmt.Errorf("submit the alert %s: %w", text.Story, err)
		}

		sent.sessions = append(sent.sessions, demoSession{story: text.Story, id: accepted.SessionID})
	}

	return sent, sent.describe(ctx, c)
}

func (s *demoResult) add(story string, alert tarsy.DeliveredAlert) {
	if alert.Action == tarsy.ActionSilence {
		s.silenced = append(s.silenced, alert)
	}

	if alert.SessionID == nil || slices.ContainsFunc(s.sessions, func(known demoSession) bool { return known.id == *alert.SessionID }) {
		return
	}

	s.sessions = append(s.sessions, demoSession{story: story, id: *alert.SessionID})
}

// describe loads from the server what the sessions are about and what happened to their alerts.
func (s *demoResult) describe(ctx context.Context, c *client.Client) error {
	for i := range s.sessions {
		session := &s.sessions[i]

		detail, err := c.Session(ctx, session.id)
		if err != nil {
			return fmt.Errorf("read the session of %s: %w", session.story, err)
		}

		session.title = detail.TitleOr(detail.AlertType)

		switch state := detail.Alert; {
		case state == nil:
			session.note = "sent as text"
		case state.Storm:
			session.note = "storm, investigated together"
		case !state.Firing:
			session.note = "resolved"
		case state.Occurrences > 1:
			session.note = fmt.Sprintf("received %d times", state.Occurrences)
		}
	}

	return nil
}

// nextCluster returns the name of a cluster without sessions, and whether there are any sessions. Alerts from a new cluster are new alerts:
// when the demo runs again, they are investigated instead of counted as repetitions.
func nextCluster(ctx context.Context, c *client.Client) (cluster string, used bool, err error) {
	last := 0

	for session, err := range client.List(ctx, c, client.ListSessions, client.Filter{}, 0) {
		if err != nil {
			return "", false, err
		}

		used = true
		number, _ := strconv.Atoi(strings.TrimPrefix(session.Cluster, story.ClusterPrefix)) // 0 for a cluster that does not belong to the demo
		last = max(last, number)
	}

	return story.ClusterPrefix + strconv.Itoa(last+1), used, nil
}

// printSent lists the sent alerts and their results.
func (d *demo) printSent(sent *demoResult) {
	p := d.palette(d.Stderr)
	line := func(mark, id, title, note string) {
		if note != "" {
			note = p.Paint(terminal.Dim, " · "+note)
		}

		d.infof("  %s %s  %s%s", p.Paint(terminal.Cyan, mark), p.Paint(terminal.Dim, terminal.Pad(id, shortID)), title, note)
	}

	if len(sent.sessions) == 0 {
		d.infof("  %s", p.Paint(terminal.Dim, "Sessions of earlier runs are kept. Use --submit to send the example alerts again."))

		return
	}

	d.infof("Example alerts, sent to /api/v1/webhooks/%s/%s as by an Alertmanager:", string(tarsy.SourceAlertmanager), story.Receiver)

	for _, session := range sent.sessions {
		line("▸", short(session.id), terminal.Line(session.title), session.note)
	}

	for _, alert := range sent.silenced {
		name, _, _ := strings.Cut(alert.Reason, ":") // the rest is the reason for the maintenance window
		line("○", "silenced", terminal.Line(alert.Title), name)
	}
}
