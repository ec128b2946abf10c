package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

const (
	// maxSection is a little less than Slack's limit of 3,000 characters, maxHeader is Slack's limit.
	maxSection = 2900
	maxHeader  = 150
	// maxSections is the maximum number of sections in a message; Slack limits a message to 50 blocks, and their total size.
	maxSections = 4
	// maxNotice limits the text of notifications, maxFact each fact about an alert apart from its title, maxArguments the
	// arguments of a call.
	maxNotice    = 300
	maxFact      = 80
	maxArguments = 2500
)

func mrkdwnObject(text string) *slack.TextBlockObject {
	// Verbatim: Slack does not parse it for names and URLs.
	return slack.NewTextBlockObject(slack.MarkdownType, text, false, true)
}

func plainObject(text string) *slack.TextBlockObject {
	return slack.NewTextBlockObject(slack.PlainTextType, text, false, false)
}

func section(text string) slack.Block { return slack.NewSectionBlock(mrkdwnObject(text), nil, nil) }

func header(text string) slack.Block {
	return slack.NewHeaderBlock(plainObject(fit(inert(oneLine(text)), maxHeader)))
}

func small(text string) slack.Block { return slack.NewContextBlock("", mrkdwnObject(text)) }

// link returns the URL of a session, or its ID if no URL is configured.
func (s *sender) link(sessionID string) string {
	if url := s.cfg.SessionURL(sessionID); url != "" {
		return "<" + escape(url) + "|Open in TARSy>"
	}

	return "Session `" + sessionID + "`"
}

// sections divides a long text into sections; the rest is replaced by a link to the session.
func (s *sender) sections(text, sessionID string) []slack.Block {
	var blocks []slack.Block

	for i, part := range divide(text) {
		if i == maxSections {
			return append(blocks, small("The text is longer than what is posted here. "+s.link(sessionID)))
		}

		blocks = append(blocks, section(part))
	}

	return blocks
}

// sessionContent announces the start or the end of a session.
func (s *sender) sessionContent(m message.Message) (content, error) {
	notice := fit(inert(oneLine(m.Headline()+": "+m.Title)), maxNotice)

	if template := s.cfg.Templates[m.Event]; template != nil {
		text, err := template.Render(harmless(m))

		return content{text: notice, blocks: s.sections(string(text), m.SessionID)}, err
	}

	blocks := []slack.Block{header(m.Headline() + ": " + m.Title)}

	if facts := facts(m); facts != "" {
		blocks = append(blocks, small(facts))
	}

	if text := conclusion(m); text != "" {
		blocks = append(blocks, section(text))
	}

	if text := m.Text(); text != "" {
		blocks = append(blocks, s.sections(mrkdwn(text), m.SessionID)...)
	}

	return content{text: notice, blocks: append(blocks, small(s.link(m.SessionID)))}, nil
}

// facts returns the facts about an alert apart from its title, on one line.
func facts(m message.Message) string {
	all := m.Facts()
	for i, fact := range all {
		all[i] = literal(plaintext.Cut(fact, maxFact))
	}

	return strings.Join(all, " · ")
}

// conclusion returns the cause and the first next step of a verdict, one per line.
func conclusion(m message.Message) string {
	var lines []string

	for _, l := range m.Conclusion() {
		lines = append(lines, fmt.Sprintf("*%s:* %s (%s)", l.Name, literal(l.Text), literal(l.Caution)))
	}

	return fit(strings.Join(lines, "\n"), maxSection)
}

// harmless makes the texts of a message safe in templates: those of models in Slack's markup, the others verbatim.
func harmless(m message.Message) message.Message {
	shown := message.WithTexts(m, inert)
	shown.Summary, shown.Analysis = mrkdwn(m.Summary), mrkdwn(m.Analysis)

	return shown
}

// approvalContent shows a waiting call, with buttons for those who may decide, or the decision about it.
func (s *sender) approvalContent(call tarsy.ApprovalRequest, m message.Message, d decision) (content, error) {
	title := tarsy.AlertFacts{Title: call.Title}.TitleOr(call.AlertType)
	state := approvalWords(d.status)
	blocks := []slack.Block{header(state + ": " + title)}

	if template := s.cfg.Templates[message.ApprovalNeeded]; template != nil {
		text, err := template.Render(harmless(m))
		if err != nil {
			return content{}, err
		}

		blocks = append(blocks[:0], s.sections(string(text), call.SessionID)...)
	}

	name := func(text string) string { return literal(plaintext.Cut(oneLine(text), maxFact)) }
	arguments, cut := codeBlock(call.ToolArguments)

	blocks = append(blocks,
		section(fmt.Sprintf("The agent %s wants to call %s (call %s):", name(call.AgentName), name(call.ServerName+"."+call.ToolName), name(call.Call))),
		section(arguments))

	if cut {
		blocks = append(blocks, section("*The arguments are longer than what is shown here. Read all of them and approve there:* "+s.link(call.SessionID)))
	}

	blocks = append(blocks, s.approvalState(call, d, cut)...)

	return content{
		text:   fit(inert(oneLine(state+": "+call.ServerName+"."+call.ToolName+", "+title)), maxNotice),
		blocks: append(blocks, small(s.link(call.SessionID))),
	}, nil
}

// approvalState shows the buttons, or the decision and its author. A call whose arguments are not fully shown cannot be
// approved here.
func (s *sender) approvalState(call tarsy.ApprovalRequest, d decision, cut bool) []slack.Block {
	if d.status != tarsy.ApprovalWaiting {
		line := "*" + approvalWords(d.status) + "*"
		if d.author != "" {
			line += " by " + literal(d.author)
		}

		if d.reason != "" {
			line += ": " + literal(d.reason)
		}

		return []slack.Block{section(fit(line, maxSection))}
	}

	blocks := []slack.Block{small("Expires " + date(call.Approval.ExpiresAt) + ".")}

	if len(s.cfg.Approve) == 0 || !s.cfg.Client.Listens() {
		return blocks
	}

	buttons := []slack.BlockElement{slack.NewButtonBlockElement(rejectAction, call.ID, plainObject("Reject")).WithStyle(slack.StyleDanger)}
	if !cut {
		approve := slack.NewButtonBlockElement(approveAction, call.ID, plainObject("Approve")).WithStyle(slack.StylePrimary)
		buttons = append([]slack.BlockElement{approve}, buttons...)
	}

	return append(blocks, slack.NewActionBlock("", buttons...))
}

func approvalWords(status tarsy.ApprovalStatus) string {
	switch status {
	case tarsy.ApprovalApproved:
		return "Approved"
	case tarsy.ApprovalRejected:
		return "Rejected"
	case tarsy.ApprovalExpired:
		return "Approval expired"
	case tarsy.ApprovalWithdrawn:
		return "Approval no longer needed"
	case tarsy.ApprovalWaiting:
	}

	return "Approval needed"
}

// date formats a time that Slack shows in the reader's time zone.
func date(t time.Time) string {
	return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", t.Unix(), t.UTC().Format("2006-01-02 15:04 MST"))
}

// codeBlock formats JSON as a code block that its content cannot end, and reports whether any of it is not shown.
func codeBlock(raw json.RawMessage) (block string, cut bool) {
	var text bytes.Buffer

	if json.Indent(&text, raw, "", "  ") != nil {
		text.Reset()
		text.Write(raw)
	}

	whole := escape(strings.ReplaceAll(visible(text.String()), "`", "ˋ"))
	shown := fit(whole, maxArguments)

	return fence + "\n" + shown + "\n" + fence, !message.ShowsAll(shown, whole)
}

// reasonModal asks for the reason of a rejection.
func reasonModal(remembered string) slack.ModalViewRequest {
	const shortest = 1

	input := slack.NewPlainTextInputBlockElement(plainObject("The agent gets this reason."), reasonBlock)
	input.Multiline, input.MaxLength, input.MinLength = true, tarsy.MaxApprovalReason, shortest

	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: rejectModal, PrivateMetadata: remembered,
		Title: plainObject("Reject the tool call"), Submit: plainObject("Reject"), Close: plainObject("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock(reasonBlock, plainObject("Reason"), nil, input)}},
	}
}

// stateLine returns the current state of the alert for the first message of a thread, or "" if the message itself already shows
// it.
func (s *sender) stateLine(state outbox.SlackThreadState, owner tarsy.Announcement, words string) string {
	var parts []string

	if state.Sessions > 1 || state.SessionID != owner.SessionID || owner.Subject != tarsy.SubjectEnd && state.Status != tarsy.SessionInProgress {
		parts = append(parts, "*Latest:* "+literal(words), s.link(state.SessionID))
	}

	if state.Sessions > 1 {
		parts = append(parts, fmt.Sprintf("%d investigations", state.Sessions))
	}

	if state.Occurrences > 1 {
		parts = append(parts, fmt.Sprintf("received %d times", state.Occurrences))
	}

	if state.ResolvedAt != nil {
		parts = append(parts, "alert resolved "+date(*state.ResolvedAt))
	}

	return strings.Join(parts, " · ")
}
