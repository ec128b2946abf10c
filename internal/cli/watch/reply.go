package watch

import (
	"regexp"
	"strings"
)

// headThought begins a thought in the text protocol, in which models without functions ask for tools.
const headThought = "Thought:"

var (
	replyStart = regexp.MustCompile(`(?i)^\W*(thought|action|final answer)\W*:`)
	replyEnd   = regexp.MustCompile(`(?im)^\W*(action|final answer)\W*:\W*`)
)

// reply is an answer in the text protocol as people read it: the action is left out, for the call that it became
// stands below it.
type reply struct {
	found   bool
	thought string
	answer  string
}

func splitReply(text string) reply {
	text = strings.TrimSpace(text)
	if !replyStart.MatchString(text) {
		return reply{}
	}

	r := reply{found: true, thought: text}

	if at := replyEnd.FindStringIndex(text); at != nil {
		r.thought = text[:at[0]]

		if strings.Contains(strings.ToLower(text[at[0]:at[1]]), "answer") {
			r.answer = strings.TrimSpace(text[at[1]:])
		}
	}

	if _, after, ok := strings.Cut(r.thought, ":"); ok {
		r.thought = after
	}

	r.thought = strings.TrimSpace(strings.TrimLeft(r.thought, "* "))

	return r
}
