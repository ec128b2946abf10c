package live

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

// Reply is an answer in the text protocol as people read it: the action is left out, for the call that it became
// stands below it.
type Reply struct {
	Found   bool
	Thought string
	Answer  string
}

// SplitReply reads an answer; Found is false if it is not in the text protocol.
func SplitReply(text string) Reply {
	text = strings.TrimSpace(text)
	if !replyStart.MatchString(text) {
		return Reply{}
	}

	r := Reply{Found: true, Thought: text}

	if at := replyEnd.FindStringIndex(text); at != nil {
		r.Thought = text[:at[0]]

		if strings.Contains(strings.ToLower(text[at[0]:at[1]]), "answer") {
			r.Answer = strings.TrimSpace(text[at[1]:])
		}
	}

	if _, after, ok := strings.Cut(r.Thought, ":"); ok {
		r.Thought = after
	}

	r.Thought = strings.TrimSpace(strings.TrimLeft(r.Thought, "* "))

	return r
}
