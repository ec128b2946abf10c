package agent

import (
	"strings"
)

// replyKind is what a reply in the text protocol comes to.
type replyKind int

const (
	replyMalformed replyKind = iota // neither an action nor an answer
	replyAction
	replyAnswer
)

// problem is what is wrong with a malformed reply.
type problem int

const (
	problemNone        problem = iota
	problemHeadings            // no heading at all
	problemEmpty               // nothing at all
	problemThought             // a thought, and nothing after it
	problemObservation         // an observation that the model made up, and no action before it
	problemNoTool              // an action without the name of a tool
	problemInput               // an action input without an action
	problemNoAnswer            // a final answer without text
)

// reply is an answer of a model in the text protocol, understood.
type reply struct {
	kind replyKind
	// tool and input are the action's, as the model wrote them.
	tool, input string
	answer      string
	problem     problem
	// kept is the reply up to the end of its action; what came after it rests on a result that was not there yet.
	// Of any other reply it is all.
	kept string
	// before is what came before an answer without text.
	before string
}

// parseReply understands a reply. It is tolerant: models write headings in bold, put fences around input, forget
// thoughts, and go on to invent what a tool would have said. Of several actions and answers the first counts.
func parseReply(text string) reply {
	if strings.TrimSpace(text) == "" {
		return reply{problem: problemEmpty, kept: text}
	}

	p := replyParser{text: text, found: reply{problem: problemHeadings}}
	p.parse()

	if p.found.kind == replyMalformed && p.found.problem != problemObservation {
		if at := headingInLine(text); at > 0 {
			again := replyParser{text: text[:at] + "\n" + text[at:], found: reply{problem: problemHeadings}}
			if again.parse(); again.found.kind != replyMalformed {
				p = again
			}
		}
	}

	if p.found.kind != replyAction || p.rest() == "" {
		p.found.kept = text
	}

	if p.found.kind != replyMalformed {
		p.found.problem = problemNone
	}

	return p.found
}

// conclusion is what a reply comes to when no tools are left: its answer, or all of it.
func (r reply) conclusion(text string) string {
	switch {
	case r.kind == replyAnswer:
		return r.answer
	case r.kind == replyMalformed && r.problem == problemNoAnswer:
		return r.before
	default:
		return text
	}
}

// replyParser goes through the headings of a text until the first action or answer.
type replyParser struct {
	text  string
	found reply
	// end is where the action ends.
	end int
	// invented is set by an observation before any action.
	invented bool
}

func (p *replyParser) parse() {
	sections := p.sections()

	for i, s := range sections {
		done := false

		switch s.heading {
		case headThought:
			p.blame(problemThought)
		case headObservation:
			p.invented, p.found.problem = true, problemObservation
		case headInput:
			p.blame(problemInput)
		case headAction:
			done = p.action(s, sections[i+1:])
		case headAnswer:
			p.finalAnswer(s)

			done = true
		}

		if done {
			return
		}
	}
}

// blame notes what is wrong, unless something worse is known.
func (p *replyParser) blame(what problem) {
	if what > p.found.problem && !p.invented {
		p.found.problem = what
	}
}

// finalAnswer takes all that follows: an analysis may well have headings of its own.
func (p *replyParser) finalAnswer(s section) {
	answer := strings.TrimSpace(p.text[s.body:])

	if strings.Count(p.text[:s.start], codeFence)%2 == 1 {
		answer = strings.TrimSpace(strings.TrimSuffix(answer, codeFence))
	}

	switch {
	case p.invented:
	case answer == "":
		p.found.problem, p.found.before = problemNoAnswer, strings.TrimSpace(p.text[:s.start])
	default:
		p.found.kind, p.found.answer = replyAnswer, answer
	}
}

// action takes a tool's name and its input. It reports false if the action is none.
func (p *replyParser) action(s section, after []section) bool {
	stop := len(p.text)
	if len(after) > 0 {
		stop = after[0].start
	}

	body := p.text[s.body:stop]
	input := -1

	if at, end := inputInLine(body); at >= 0 {
		body, input = body[:at], s.body+end
	} else if len(after) > 0 && after[0].heading == headInput {
		input = after[0].body
	}

	named := splitAction(body)

	switch {
	case named.name == "":
		p.blame(problemNoTool)

		return false
	case isNoAction(named.name):
		return false
	case input >= 0:
		value, length := readInput(p.text[input:], s.lower)
		p.found.input, p.end = value, input+length
	case named.reads(body):
		value, length := readInput(p.text[s.body+named.from:], s.lower)
		p.found.input, p.end = value, s.body+named.from+length
	default:
		p.found.input, p.end = strings.TrimSpace(body[named.from:named.to]), s.body+named.to
		if strings.HasPrefix(body[named.to:], ")") {
			p.end++
		}
	}

	p.found.tool = named.name
	p.found.kind = replyAction
	p.found.kept = strings.TrimRight(p.text[:p.end], " \t\r\n")

	return true
}

// rest is what the model wrote after its action, if that is anything.
func (p *replyParser) rest() string {
	return strings.Trim(p.text[min(p.end, len(p.text)):], " \t\r\n`*)")
}
