package story

import (
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// Client returns the demo's model. It keeps no state between calls: the alert in the messages determines the story, and the
// answers already in the conversation the position in it. So it continues correctly after a restart, and plays any number
// of sessions concurrently.
func Client(pace script.Pace) llm.Client {
	b := book{stories: load()}
	s := script.New(script.Options{Pace: pace, Forget: true})
	s.RouteFunc(
		func(*llm.Request) bool { return true },
		func(req *llm.Request, _ int) script.Reply { return b.reply(req) },
	)

	return s
}

// book contains all stories and finds the one that a request is about.
type book struct{ stories []story }

func (b *book) reply(req *llm.Request) script.Reply {
	if isNote(req) {
		return noteReply(req)
	}

	switch tarsy.InteractionType(req.Purpose) {
	case tarsy.InteractionExecutiveSummary:
		return script.Reply{Text: b.summary(req)}
	case tarsy.InteractionVerdict:
		return script.Reply{Text: b.verdict(req)}
	case tarsy.InteractionSummarization:
		return script.Reply{Text: digest(resultIn(req))}
	case tarsy.InteractionIteration, tarsy.InteractionForcedConclusion, tarsy.InteractionSynthesis:
	}

	s := b.find(req)

	switch {
	case req.Agent == chatAgent:
		return s.answer(req)
	case isReact(req) && s == nil:
		return inText(b.unknownAlert(withTools(req)))
	case isReact(req):
		return inText(s.stage(req.Agent).inSteps().reply(withTools(req)))
	case s == nil:
		return b.unknownAlert(req)
	default:
		return s.stage(req.Agent).reply(req)
	}
}

// reply returns the stage's next turn after those already in the conversation.
func (s *stage) reply(req *llm.Request) script.Reply {
	done := answers(req)
	last := len(s.Turns) - 1

	if req.Purpose == string(tarsy.InteractionForcedConclusion) {
		return s.conclude(done)
	}

	if done > last {
		return script.Reply{Text: finishedReply}
	}

	next := s.Turns[done]
	if next.Error != "" {
		return script.Reply{Err: &llm.Error{Class: llm.ClassSafety, Message: next.Error}}
	}

	reply := script.Reply{Thinking: strings.TrimSpace(next.Thinking), Text: strings.TrimSpace(next.Text)}

	for _, use := range next.Tools {
		call, ok := use.call(req.Tools)
		if !ok {
			return s.conclude(done)
		}

		reply.ToolCalls = append(reply.ToolCalls, call)
	}

	return reply
}

// earlyMark starts a result for which steps were skipped.
const earlyMark = "> Concluded early"

// conclude ends the stage after done answers, when it cannot call any more tools.
func (s *stage) conclude(done int) script.Reply {
	steps := len(s.Turns) - 1
	if done >= steps && s.Turns[steps].Error == "" {
		return script.Reply{Thinking: strings.TrimSpace(s.Turns[steps].Thinking), Text: strings.TrimSpace(s.result())}
	}

	return script.Reply{
		Thinking: "I cannot ask for more evidence, so I conclude with what I have and say what is missing.",
		Text: fmt.Sprintf(earlyMark+", after %d of %d planned steps: the findings below are not all confirmed.\n\n%s",
			done, steps, strings.TrimSpace(s.Conclusion)),
	}
}

// find returns the story that the conversation is about, or nil. If several match, the one with the most markers wins: the
// text of an alert storm quotes alerts that have stories of their own.
func (b *book) find(req *llm.Request) *story {
	var found *story

	for i := range b.stories {
		if s := &b.stories[i]; s.concerns(req) && (found == nil || len(s.Markers) > len(found.Markers)) {
			found = s
		}
	}

	return found
}

// concerns reports whether a user message contains the story's alert or the result of one of its stages.
func (s *story) concerns(req *llm.Request) bool {
	for _, message := range req.Messages {
		if message.Role == llm.RoleUser && (containsAll(message.Content, s.Markers) || s.resultIn(message.Content)) {
			return true
		}
	}

	return false
}

func (s *story) resultIn(content string) bool {
	for i := range s.Stages {
		if heading := s.Stages[i].heading(); heading != "" && strings.Contains(content, heading) {
			return true
		}
	}

	return false
}

// summary returns the executive summary of the story that the analysis in the request belongs to.
func (b *book) summary(req *llm.Request) string {
	if s := b.find(req); s != nil {
		return strings.TrimSpace(s.ExecutiveSummary)
	}

	return unknownSummary
}

// answers counts the model's turns in the conversation.
func answers(req *llm.Request) int {
	n := 0

	for _, message := range req.Messages {
		if message.Role == llm.RoleAssistant {
			n++
		}
	}

	return n
}

// containsAll reports whether a text contains every marker, in one of its alternatives.
func containsAll(text string, markers []string) bool {
	for _, marker := range markers {
		if !slices.ContainsFunc(strings.Split(marker, "|"), func(word string) bool { return strings.Contains(text, word) }) {
			return false
		}
	}

	return true
}
