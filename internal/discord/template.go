package discord

import (
	"context"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/plaintext"
)

// argumentsCut warns people before they decide.
const argumentsCut = "**The arguments are longer than what is shown here. Open the session, read all of them, and approve the call there.**"

// templated returns the text of an announcement from its template, or "" if it has no template or the template produces
// nothing. call is nil unless the announcement is about a call.
func (s *sender) templated(ctx context.Context, a *tarsy.Announcement, call *tarsy.ApprovalRequest) (string, error) {
	if len(s.cfg.Templates) == 0 {
		return "", nil
	}

	session, err := s.cfg.Outbox.Session(ctx, a.SessionID)
	if tarsy.CodeOf(err) == tarsy.CodeSessionNotFound {
		return "", notify.ErrDeleted
	} else if err != nil {
		return "", err
	}

	template := s.cfg.Templates[message.EventOf(a.Subject, session.Status)]
	if template == nil {
		return "", nil
	}

	verdict, err := s.cfg.Outbox.Verdict(ctx, session.ID)
	if err != nil {
		return "", err
	}

	m := message.New(*a, *session, verdict, s.cfg.SessionURL(session.ID))
	if call != nil {
		m = message.NewApproval(*a, *session, *call, m.URL)
	}

	return render(template, m), nil
}

// render executes a template. It returns "" if the template fails, so that the default text is used.
func render(template *message.Template, m message.Message) string {
	raw, err := template.Render(harmless(m))
	if err != nil {
		return ""
	}

	whole := strings.TrimSpace(plaintext.Clean(string(raw)))
	if tarsy.UTF16Len(whole) <= maxMessage {
		return whole
	}

	if m.Event != message.ApprovalNeeded {
		return shorten(whole, maxMessage-len("\n…"))
	}

	return shorten(whole, maxMessage-len(argumentsCut)-len("\n…\n")) + "\n" + argumentsCut
}

// harmless makes the texts of a message safe in any template: they add no Markdown, mention no one and hide no links.
func harmless(m message.Message) message.Message {
	for _, text := range []*string{&m.Title, &m.AlertType, &m.ChainID, &m.Service, &m.Namespace, &m.Cluster, &m.Team, &m.Fingerprint, &m.Receiver, &m.Approval.Agent, &m.Approval.Server, &m.Approval.Tool} {
		*text = literal(*text)
	}

	for _, text := range []*string{&m.Summary, &m.Analysis, &m.Error, &m.Cause, &m.Impact} {
		*text = inert(*text)
	}

	m.Labels, m.Links = maps.Clone(m.Labels), slices.Clone(m.Links)
	m.NextSteps, m.NotChecked = slices.Clone(m.NextSteps), slices.Clone(m.NotChecked)

	for name, value := range m.Labels {
		m.Labels[name] = literal(value)
	}

	for i := range m.Links {
		m.Links[i].URL = inert(m.Links[i].URL)
	}

	for i := range m.NotChecked {
		m.NotChecked[i] = inert(m.NotChecked[i])
	}

	for i, step := range m.NextSteps {
		step.Title, step.Why, step.URL, step.Command = literal(step.Title), inert(step.Why), inert(step.URL), codeText(inert(step.Command))
		m.NextSteps[i] = step
	}

	m.Approval.Arguments = message.Arguments(codeText(string(m.Approval.Arguments)))

	return m
}

// codeText returns text that cannot end a code block.
func codeText(text string) string { return strings.ReplaceAll(text, "`", "ˋ") }
