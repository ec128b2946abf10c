package live

import (
	"regexp"
	"strings"
)

// headThought begins a thought in the text protocol, which models without function calling use to request tools.
const headThought = "Thought:"

var (
	replyStart = regexp.MustCompile(`(?i)^\W*(thought|action|final answer)\W*:`)
	replyEnd   = regexp.MustCompile(`(?im)^\W*(action|final answer)\W*:\W*`)
)

// Reply is a response in the text protocol as people read it. The action is omitted, because the resulting call is shown below it.
type Reply struct {
	Found   bool
	Thought string
	Answer  string
}

// SplitReply parses a response. Found is false if it is not in the text protocol.
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
