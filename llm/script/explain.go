package script

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy/llm"
)

const (
	shortMessage = 120
	shortReply   = 40
	// nearest is how many entries are explained, and most how many names or texts are listed.
	nearest = 5
	most    = 20
)

// near is an entry that did not answer, and the reasons.
type near struct {
	name         string
	held, failed int
	why          []string
	// conditions are those of a route; failed conditions are described only for the nearest entries.
	conditions []condition
}

// explain returns the error of a call that nothing answers: what was requested, which entries were near and why each failed,
// and which replies are left for other calls.
func (s *Script) explain(f *facts) error {
	var text strings.Builder

	for i, entry := range s.nearest(f) {
		if i == 0 {
			text.WriteString("\nnearest entries:")
		}

		fmt.Fprintf(&text, "\n  %s: %s", entry.name, strings.Join(entry.why, "; "))
	}

	if unused, all := s.left(most); all > 0 {
		text.WriteString("\nleft for others:\n  " + first(unused, all, "\n  "))
	} else {
		text.WriteString("\nno reply is left elsewhere")
	}

	return fmt.Errorf("%w to %s%s", ErrNoReply, f.describe(), text.String())
}

// nearest returns the entries of which the most conditions held and then the fewest failed, in their order if that is equal.
func (s *Script) nearest(f *facts) []near {
	s.mu.Lock()
	routes, functions := s.routes, len(s.functions)
	entries := make([]near, 0, len(routes)+functions+1)

	for _, r := range routes {
		entry := near{name: r.name, conditions: r.conditions}
		if r.next == len(r.entries) {
			entry.why = append(entry.why, r.usedUp())
		}

		entries = append(entries, entry)
	}

	var sequence []near
	if len(s.sequence.entries) > 0 {
		sequence = append(sequence, near{name: s.sequence.name, why: []string{s.sequence.usedUp()}})
	}
	s.mu.Unlock()

	for i := range entries {
		entries[i].count(f)
	}

	for i := range functions {
		entries = append(entries, near{name: functionRoute(i), failed: 1, why: []string{"it does not accept the call"}})
	}

	entries = append(entries, sequence...)
	// An entry without a reason got a reply only after this call had passed it.
	entries = slices.DeleteFunc(entries, func(e near) bool { return e.failed+len(e.why) == 0 })
	slices.SortStableFunc(entries, func(a, b near) int { return cmp.Or(cmp.Compare(b.held, a.held), cmp.Compare(a.failed, b.failed)) })

	entries = entries[:min(len(entries), nearest)]

	for i := range entries {
		entries[i].explain(f)
	}

	return entries
}

// count counts the conditions that hold and those that do not.
func (e *near) count(f *facts) {
	for i := range e.conditions {
		if e.conditions[i].holds(f) {
			e.held++
		} else {
			e.failed++
		}
	}
}

// explain describes the conditions that do not hold.
func (e *near) explain(f *facts) {
	for i := range e.conditions {
		if c := &e.conditions[i]; !c.holds(f) {
			e.why = append(e.why, c.mismatch(f))
		}
	}
}

func (q *queue) usedUp() string {
	switch q.answered {
	case 0:
		return "it has no replies"
	case 1:
		return "used up after 1 reply"
	default:
		return "used up after " + strconv.Itoa(q.answered) + " replies"
	}
}

// mismatch describes what a condition requires and what it found instead.
func (c *condition) mismatch(f *facts) string {
	name := subjectName(c.of, c.header)

	switch c.of {
	case ofTurn:
		return fmt.Sprintf("turn must be %d: it is %d", c.turn, f.turn())
	case ofToolResult:
		return c.missingResult(f)
	case ofHeader, ofAgent, ofPurpose, ofModel, ofSystem, ofUser:
	}

	text, there := f.text(c)

	is := "it is " + strconv.Quote(short(text, shortMessage))

	switch {
	case !there:
		is = "there is none"
	case c.of == ofHeader && secret(c.header):
		is = "it is another"
	}

	return fmt.Sprintf("%s must %s: %s", name, strings.Join(c.want.failing(text, there), " and "), is)
}

func (c *condition) missingResult(f *facts) string {
	var texts []string

	for _, message := range f.recent() {
		if message.Role == llm.RoleTool {
			texts = append(texts, strconv.Quote(short(message.Content, shortMessage)))
		}
	}

	must := strings.Join(c.want.failing("", false), " and ")

	switch len(texts) {
	case 0:
		return fmt.Sprintf("a tool result must %s: there is none", must)
	case 1:
		return fmt.Sprintf("a tool result must %s: it is %s", must, texts[0])
	default:
		return fmt.Sprintf("a tool result must %s: they are %s", must, list(texts))
	}
}

// secret reports whether a header authenticates a caller.
func secret(header string) bool {
	switch header {
	case "Authorization", "Proxy-Authorization", "X-Api-Key", "X-Goog-Api-Key", "Api-Key", "Cookie":
		return true
	default:
		return false
	}
}

// describe describes a call by what distinguishes it from others.
func (f *facts) describe() string {
	req := f.req
	last := "no messages"

	if n := len(req.Messages); n > 0 {
		message := req.Messages[n-1]
		last = fmt.Sprintf("message %d of %d from %s: %q", n, n, message.Role, short(message.Content, shortMessage))
	}

	var parts []string

	for _, known := range []struct{ name, text string }{{"agent", req.Agent}, {"purpose", req.Purpose}, {"model", req.Model}} {
		if known.text != "" {
			parts = append(parts, fmt.Sprintf("%s %q", known.name, short(known.text, shortMessage)))
		}
	}

	parts = append(parts, "turn "+strconv.Itoa(f.turn()), last)

	if text, ok := f.user(); ok && req.Messages[len(req.Messages)-1].Role != llm.RoleUser {
		parts = append(parts, "last user message: "+strconv.Quote(short(text, shortMessage)))
	}

	var results, tools []string

	for _, message := range f.recent() {
		if message.Role == llm.RoleTool {
			results = append(results, strconv.Quote(short(message.Content, shortMessage)))
		}
	}

	for _, tool := range req.Tools {
		tools = append(tools, short(tool.Name, shortMessage))
	}

	if len(results) > 0 {
		parts = append(parts, "tool results: "+list(results))
	}

	if len(tools) > 0 {
		parts = append(parts, "tools: "+list(tools))
	}

	return strings.Join(parts, ", ")
}

// list joins the first few.
func list(texts []string) string { return first(texts[:min(len(texts), most)], len(texts), ", ") }

// first joins texts, which are the first of all, and appends how many more there are.
func first(texts []string, all int, by string) string {
	joined := strings.Join(texts, by)
	if all > len(texts) {
		joined += by + "and " + strconv.Itoa(all-len(texts)) + " more"
	}

	return joined
}
