package react

import (
	"strings"
)

// Kind is the kind of a reply.
type Kind int

// The kinds of replies.
const (
	// Malformed is a reply with neither an action nor an answer; Correction explains what is wrong with it.
	Malformed Kind = iota
	// Action is a request to call a tool.
	Action
	// Answer is the final answer.
	Answer
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

// Reply is what a model wrote, parsed.
type Reply struct {
	Kind Kind
	// Tool and Input belong to the action, as the model wrote them.
	Tool, Input string
	// Answer is the final answer without its heading.
	Answer string
	// Kept is the reply up to the end of its action: anything later is based on a result that did not exist yet. For other replies it
	// is the whole text.
	Kept string

	problem problem
	// before is what preceded an answer without text.
	before string
}

// Parse parses a reply. It is tolerant: models write headings in bold, put fences around input, omit thoughts, and invent the result of
// their action. The first of several actions and answers counts.
func Parse(text string) Reply {
	if strings.TrimSpace(text) == "" {
		return Reply{problem: problemEmpty, Kept: text}
	}

	p := parser{text: text, found: Reply{problem: problemHeadings}}
	p.parse()

	if p.found.Kind == Malformed && p.found.problem != problemObservation {
		if at := headingInLine(text); at > 0 {
			again := parser{text: text[:at] + "\n" + text[at:], found: Reply{problem: problemHeadings}}
			if again.parse(); again.found.Kind != Malformed {
				p = again
			}
		}
	}

	if p.found.Kind != Action || p.rest() == "" {
		p.found.Kept = text
	}

	if p.found.Kind != Malformed {
		p.found.problem = problemNone
	}

	return p.found
}

// Conclusion returns the analysis in a reply when no tools are left: its answer, or all of its text.
func (r Reply) Conclusion(text string) string {
	switch {
	case r.Kind == Answer:
		return r.Answer
	case r.Kind == Malformed && r.problem == problemNoAnswer:
		return r.before
	default:
		return text
	}
}

// parser reads the headings of a text until the first action or answer.
type parser struct {
	text  string
	found Reply
	// end is where the action ends.
	end int
	// invented is set by an observation before any action.
	invented bool
}

func (p *parser) parse() {
	sections := p.sections()

	for i, s := range sections {
		done := false

		switch s.heading {
		case headThought:
			p.note(problemThought)
		case headObservation:
			p.invented, p.found.problem = true, problemObservation
		case headInput:
			p.note(problemInput)
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

// note records a problem, unless a more serious one is known.
func (p *parser) note(what problem) {
	if what > p.found.problem && !p.invented {
		p.found.problem = what
	}
}

// finalAnswer takes all the following text: an analysis may have its own headings.
func (p *parser) finalAnswer(s section) {
	answer := strings.TrimSpace(p.text[s.body:])

	if strings.Count(p.text[:s.start], codeFence)%2 == 1 {
		answer = strings.TrimSpace(strings.TrimSuffix(answer, codeFence))
	}

	switch {
	case p.invented:
	case answer == "":
		p.found.problem, p.found.before = problemNoAnswer, strings.TrimSpace(p.text[:s.start])
	default:
		p.found.Kind, p.found.Answer = Answer, answer
	}
}

// action parses a tool's name and its input. It reports false if this is not an action.
func (p *parser) action(s section, after []section) bool {
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
		p.note(problemNoTool)

		return false
	case isNoAction(named.name):
		return false
	case input >= 0:
		value, length := readInput(p.text[input:], s.lower)
		p.found.Input, p.end = value, input+length
	case named.reads(body):
		value, length := readInput(p.text[s.body+named.from:], s.lower)
		p.found.Input, p.end = value, s.body+named.from+length
	default:
		p.found.Input, p.end = strings.TrimSpace(body[named.from:named.to]), s.body+named.to
		if strings.HasPrefix(body[named.to:], ")") {
			p.end++
		}
	}

	p.found.Tool = named.name
	p.found.Kind = Action
	p.found.Kept = strings.TrimRight(p.text[:p.end], " \t\r\n")

	return true
}

// rest returns the text after the action, if it has any content.
func (p *parser) rest() string {
	return strings.Trim(p.text[min(p.end, len(p.text)):], " \t\r\n`*)")
}
