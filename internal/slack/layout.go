package slack

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/postgres"
)

const (
	// maxSection leaves space below Slack's 3,000 characters, maxHeader is Slack's limit.
	maxSection = 2900
	maxHeader  = 150
	// maxSections is how many sections a message has; a message of Slack has at most 50 blocks, and all of them have limits together.
	maxSections = 4
	// maxNotice bounds the text of notifications, maxFact what is told of an alert besides its title, maxArguments the arguments of a call.
	maxNotice    = 300
	maxFact      = 80
	maxArguments = 2500
)

func mrkdwnObject(text string) *slack.TextBlockObject {
	// Verbatim: Slack looks for no names and addresses in it.
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

// link is where people open a session; without a configured address it is named.
func (s *sender) link(sessionID string) string {
	if url := s.cfg.SessionURL(sessionID); url != "" {
		return "<" + escape(url) + "|Open in TARSy>"
	}

	return "Session `" + sessionID + "`"
}

// sections are a long text; what does not fit is cut, with a link to all of it.
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

// sessionContent announces the beginning or the end of a session.
func (s *sender) sessionContent(m message.Message) (content, error) {
	notice := fit(inert(oneLine(headline(m)+": "+m.Title)), maxNotice)

	if template := s.cfg.Templates[m.Event]; template != nil {
		text, err := template.Render(harmless(m))

		return content{text: notice, blocks: s.sections(string(text), m.SessionID)}, err
	}

	blocks := []slack.Block{header(headline(m) + ": " + m.Title)}

	if facts := facts(m); facts != "" {
		blocks = append(blocks, small(facts))
	}

	if text := conclusion(m); text != "" {
		blocks = append(blocks, section(text))
	}

	if text := body(m); text != "" {
		blocks = append(blocks, s.sections(mrkdwn(text), m.SessionID)...)
	}

	return content{text: notice, blocks: append(blocks, small(s.link(m.SessionID)))}, nil
}

// headline is the outcome in a few words.
func headline(m message.Message) string {
	switch {
	case m.Event == message.Started:
		return "Investigating"
	case m.OutcomeText != "":
		return m.OutcomeText
	default:
		return "Investigation " + strings.ReplaceAll(string(m.Status), "_", " ")
	}
}

// facts are what is known of an alert besides its title, on one line.
func facts(m message.Message) string {
	place := tarsy.AlertFacts{Service: m.Service, Namespace: m.Namespace}.Place()

	var all []string

	for _, fact := range []string{string(m.Severity), place, m.Cluster, m.Team} {
		if fact != "" {
			all = append(all, literal(tarsy.CutText(fact, maxFact)))
		}
	}

	return strings.Join(all, " · ")
}

// conclusion is the cause and the first next step of a verdict, a line each.
func conclusion(m message.Message) string {
	var lines []string

	line := func(name, text, more string) {
		if text = oneLine(text); text != "" {
			cut := tarsy.CutText(text, tarsy.MaxVerdictLine)
			if len(cut) < len(text) {
				cut += "…"
			}

			lines = append(lines, fmt.Sprintf("*%s:* %s (%s)", name, literal(cut), literal(more)))
		}
	}

	line("Cause", m.Cause, string(m.Confidence)+" confidence")

	if len(m.NextSteps) > 0 {
		step := tarsy.NextStep{Risk: m.NextSteps[0].Risk, Reversible: m.NextSteps[0].Reversible}
		line("Next step", m.NextSteps[0].Title, step.Caution())
	}

	return fit(strings.Join(lines, "\n"), maxSection)
}

// body is the summary of a session that completed, and the error of another one.
func body(m message.Message) string {
	switch {
	case m.Event == message.Started:
		return ""
	case m.Status != tarsy.SessionCompleted:
		return m.Error
	case m.Summary != "":
		return m.Summary
	default:
		return m.Analysis
	}
}

// harmless is a message whose texts a template can show: those of models in Slack's markup, the others as they are.
func harmless(m message.Message) message.Message {
	summary, analysis := mrkdwn(m.Summary), mrkdwn(m.Analysis)
	neutralize(reflect.ValueOf(&m).Elem())
	m.Summary, m.Analysis = summary, analysis

	return m
}

func neutralize(v reflect.Value) {
	switch v.Kind() { //nolint:exhaustive // messages have no others
	case reflect.String:
		v.SetString(inert(v.String()))
	case reflect.Struct:
		for _, field := range v.Fields() {
			neutralize(field)
		}
	case reflect.Slice:
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		v.Set(fresh)

		for i := range v.Len() {
			neutralize(v.Index(i))
		}
	case reflect.Map:
		fresh := reflect.MakeMap(v.Type())

		for _, key := range v.MapKeys() {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(v.MapIndex(key))
			neutralize(value)
			fresh.SetMapIndex(key, value)
		}

		v.Set(fresh)
	}
}

// approvalContent shows a call that waits, with buttons for those who may decide, or how it was decided.
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

	name := func(text string) string { return literal(tarsy.CutText(oneLine(text), maxFact)) }
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

// approvalState is what can be done, or who decided what. What is not shown as a whole cannot be approved here.
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

// date is a time that Slack shows in the zone of the reader.
func date(t time.Time) string {
	return fmt.Sprintf("<!date^%d^{date_short_pretty} {time}|%s>", t.Unix(), t.UTC().Format("2006-01-02 15:04 MST"))
}

// codeBlock shows JSON in a block that nothing in it ends, and reports whether that does not show all of it.
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

// reasonModal asks why a call is rejected.
func reasonModal(remembered string) slack.ModalViewRequest {
	const shortest = 1

	input := slack.NewPlainTextInputBlockElement(plainObject("The agent is told this reason."), reasonBlock)
	input.Multiline, input.MaxLength, input.MinLength = true, tarsy.MaxApprovalReason, shortest

	return slack.ModalViewRequest{
		Type: slack.VTModal, CallbackID: rejectModal, PrivateMetadata: remembered,
		Title: plainObject("Reject the tool call"), Submit: plainObject("Reject"), Close: plainObject("Cancel"),
		Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewInputBlock(reasonBlock, plainObject("Reason"), nil, input)}},
	}
}

// stateLine is what the first message of a thread shows of its alert now; empty if that is what the message itself tells.
func (s *sender) stateLine(state postgres.SlackThreadState, owner tarsy.Announcement, words string) string {
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
