package discord

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/internal/notify"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/internal/postgres/outbox"
)

const (
	// maxMessage is Discord's limit for a message, maxThreadName its limit for the name of a thread.
	maxMessage    = 2000
	maxThreadName = 100
	// maxSummary leaves space for the header and the link of an announcement.
	maxSummary = 1400
	// maxStep limits the next step of an announcement. Even with a cause that needs escaping throughout, 300 characters remain
	// for the summary.
	maxStep = 100
	// maxFact limits each fact about an alert apart from its title.
	maxFact = 50
	// maxParts is the maximum number of messages of an answer.
	maxParts = 20
)

// endText returns the announcement of a session's end.
func endText(outcome outbox.SessionOutcome, link string) string {
	title, body := "Investigation "+strings.ReplaceAll(string(outcome.Status), "_", " "), outcome.ErrorMessage
	if outcome.Status == tarsy.SessionCompleted {
		body = outcome.ExecutiveSummary
		if body == "" {
			body = outcome.FinalAnalysis
		}
	}

	head := ""
	if outcome.Verdict != nil {
		title, head = outcome.Verdict.Outcome.Words(), conclusion(*outcome.Verdict)
	}

	return "**" + title + ":** " + subject(outcome) + "\n" + head +
		shorten(inert(strings.TrimSpace(body)), maxSummary-tarsy.UTF16Len(head)) + "\n" + link
}

// conclusion returns the cause and the first next step of a verdict, one per line, without Markdown.
func conclusion(v tarsy.Verdict) string {
	var lines strings.Builder

	line := func(name, text string, limit int, more string) {
		if text = oneLine(tarsy.WithoutMarks(text)); text != "" {
			cut := plaintext.Cut(text, limit)
			if len(cut) < len(text) {
				cut += "…"
			}

			fmt.Fprintf(&lines, "%s: %s (%s)\n", name, literal(cut), literal(more))
		}
	}

	line("Cause", v.Cause.Text, tarsy.MaxVerdictLine, string(v.Confidence)+" confidence")

	if len(v.NextSteps) > 0 {
		line("Next step", v.NextSteps[0].Title, maxStep, v.NextSteps[0].Caution())
	}

	if lines.Len() > 0 {
		lines.WriteString("\n")
	}

	return lines.String()
}

// subject describes an alert in one line.
func subject(outcome outbox.SessionOutcome) string {
	facts := tarsy.AlertFacts{Title: outcome.Title, Service: outcome.Service, Namespace: outcome.Namespace}
	line := literal(plaintext.Cut(facts.TitleOr(outcome.AlertType), maxThreadName))

	var more []string

	for _, fact := range []string{string(outcome.Severity), facts.Place()} {
		if fact != "" {
			more = append(more, literal(plaintext.Cut(fact, maxFact)))
		}
	}

	if len(more) > 0 {
		line += " (" + strings.Join(more, ", ") + ")"
	}

	return line
}

// threadName returns the name of the thread under an announcement.
func threadName(outcome outbox.SessionOutcome, sessionID string) string {
	id := " " + sessionID[max(0, len(sessionID)-6):]

	return tarsy.CutUTF16(oneLine(cmp.Or(outcome.Title, outcome.AlertType)), maxThreadName-len(id)) + id
}

// answerMarkup formats the parts of an answer: tool calls are in small print.
func answerMarkup() notify.Markup {
	return notify.Markup{
		Call: func(tool string) string {
			return "-# Tool call: " + literal(oneLine(plaintext.Cut(tool, maxThreadName)))
		},
		Text:   inert,
		Failed: func(reason string) string { return "**The answer failed:** " + inert(reason) },
	}
}

// split divides a text into messages. Beyond maxParts, the rest is replaced by a link.
func split(text, link string) []string {
	var parts []string

	for _, part := range flow.ShatterMaxLength(maxMessage)(text) {
		if strings.TrimSpace(part) != "" {
			parts = append(parts, part)
		}
	}

	if len(parts) > maxParts {
		parts = append(parts[:maxParts-1], "The answer is longer than what is posted here: "+link)
	}

	return parts
}

// nonce identifies one message of an announcement to Discord, which accepts at most 25 characters.
func nonce(announcementID string, part int) string {
	raw, err := hex.DecodeString(strings.ReplaceAll(announcementID, "-", ""))
	if err != nil {
		raw = []byte(announcementID)
	}

	id := base64.RawURLEncoding.EncodeToString(raw)

	return id[:min(len(id), 22)] + strconv.Itoa(part)
}

// fence starts and ends a code block.
const fence = "```"

// inert makes text of models and alerts safe in a message: links show their target, nothing is mentioned, and invisible
// characters become visible. Code blocks are left as they are; Discord does not treat an unterminated block as one.
func inert(text string) string {
	parts := strings.Split(string(plaintext.EscapeInvisible([]byte(text))), fence)

	for i := range parts {
		if code := i%2 == 1 && i < len(parts)-1; !code {
			parts[i] = strings.NewReplacer("](", "] (", "<@", "<\u200b@", "<#", "<\u200b#", "<:", "<\u200b:", "<a:", "<\u200ba:", "@everyone", "@\u200beveryone", "@here", "@\u200bhere").Replace(parts[i])
		}
	}

	return strings.Join(parts, fence)
}

// literal escapes all Markdown in a text.
func literal(text string) string {
	var out strings.Builder

	for _, r := range inert(oneLine(text)) {
		if strings.ContainsRune("\\`*_~|>#[]()-", r) {
			out.WriteByte('\\')
		}

		out.WriteRune(r)
	}

	return out.String()
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// shorten truncates a text and closes a code block that is cut.
func shorten(text string, limit int) string {
	parts := flow.ShatterMaxLength(limit)(text)

	switch len(parts) {
	case 0:
		return ""
	case 1:
		return parts[0]
	}

	return fmt.Sprintf("%s\n…", strings.TrimRight(parts[0], " \n"))
}
