package notify

import (
	"context"
	"regexp"
	"strings"

	"tarsy.dev/tarsy"
)

const (
	feedbackCommand = "!feedback"
	withdrawWord    = "withdraw"

	feedbackUsage = "Write right, partly or wrong after !feedback, then why, and cause: with the real cause. !feedback withdraw removes yours."
)

// causeMark matches the start of the real cause, within a line or on its own.
var causeMark = regexp.MustCompile(`(?i)(?:^|[\s.,;])(?:real )?cause:`)

// isFeedback reports whether a message is feedback rather than a question.
func isFeedback(content string) bool {
	words := strings.Fields(content)

	return len(words) > 0 && strings.EqualFold(words[0], feedbackCommand)
}

// parseFeedback parses a message such as "!feedback wrong, the pod was fine. Cause: an expired certificate". The first word can
// also be withdrawWord, or not a rating at all.
func parseFeedback(content string) (word, why, cause string) {
	// Not len(feedbackCommand): letters that differ only in case can differ in length.
	rest := strings.TrimSpace(strings.TrimSpace(content)[len(strings.Fields(content)[0]):])
	end := strings.IndexFunc(rest, func(r rune) bool { return strings.ContainsRune(" \t\r\n.,:;", r) })

	if end < 0 {
		end = len(rest)
	}

	word, why = strings.ToLower(rest[:end]), strings.TrimLeft(rest[end:], " \t\r\n.,:;")

	if mark := causeMark.FindStringIndex(why); mark != nil {
		why, cause = why[:mark[0]], why[mark[1]:]
	}

	return word, strings.TrimSpace(why), strings.TrimSpace(cause)
}

// rate stores a person's feedback on a session. A message that is delivered twice replaces itself.
func (p People) rate(ctx context.Context, sessionID string, m Message) (reply string) {
	word, why, cause := parseFeedback(m.Text)
	by := p.person(m)

	switch word {
	case "":
		return feedbackUsage
	case withdrawWord:
		if _, err := p.Desk.WithdrawFeedback(p.decide(ctx, m, "feedback.withdraw", "session", sessionID), sessionID, by); err != nil {
			return p.Reason(err)
		}

		return "Your feedback is withdrawn."
	}

	given, err := p.Desk.GiveFeedback(p.decide(ctx, m, "feedback.give", "session", sessionID), tarsy.Feedback{
		SessionID: sessionID, Author: by.Name, AuthorID: by.ID, Rating: tarsy.Rating(word), Why: why, RealCause: cause,
	})
	if err != nil {
		return p.Reason(err)
	}

	return "Feedback recorded: " + string(given.Rating) + "."
}
