package script

import (
	"net/http"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// AgentHeader names the agent of a call over the wire.
const AgentHeader = "X-Tarsy-Agent"

// facts are what conditions look at in one call. What costs something to find is looked for when it is first asked for.
// They belong to one goroutine.
type facts struct {
	req    *llm.Request
	header http.Header

	systemText *string
	turns      int
	turnsKnown bool
	// lastUser and lastAssistant are where the last messages of these roles stand, -1 for none.
	lastUser, lastAssistant int
	lastKnown               bool
}

// identify returns the request with its agent. Only a call over the wire is looked into: one from within the process says
// whose it is.
func identify(req *llm.Request, header http.Header) *llm.Request {
	if req.Agent != "" || header == nil {
		return req
	}

	agent := header.Get(AgentHeader)

	for i := 0; agent == "" && i < len(req.Messages); i++ {
		if req.Messages[i].Role == llm.RoleSystem {
			agent = agentInPrompt(req.Messages[i].Content)
		}
	}

	if agent == "" {
		return req
	}

	named := *req
	named.Agent = agent

	return &named
}

// agentInPrompt is NAME of a text that begins with "You are NAME,".
func agentInPrompt(text string) string {
	const longest = 200

	rest, ok := strings.CutPrefix(text, "You are ")
	if !ok {
		return ""
	}

	name, _, ok := strings.Cut(rest[:min(len(rest), longest)], ",")
	if !ok || strings.ContainsAny(name, ".\n") {
		return ""
	}

	return name
}

// text is what a condition on one text looks at, and whether there is any.
func (f *facts) text(c *condition) (string, bool) {
	switch c.of {
	case ofAgent:
		return f.req.Agent, true
	case ofPurpose:
		return f.req.Purpose, true
	case ofModel:
		return f.req.Model, true
	case ofSystem:
		return f.system()
	case ofUser:
		return f.user()
	case ofHeader:
		values := f.header[c.header]
		if len(values) == 1 {
			return values[0], true
		}

		return strings.Join(values, ", "), len(values) > 0
	case ofToolResult, ofTurn:
	}

	return "", false
}

// system is all system texts. One is the rule, and is not copied.
func (f *facts) system() (string, bool) {
	if f.systemText == nil {
		var texts []string

		for i := range f.req.Messages {
			if f.req.Messages[i].Role == llm.RoleSystem {
				texts = append(texts, f.req.Messages[i].Content)
			}
		}

		if texts == nil {
			return "", false
		}

		joined := strings.Join(texts, "\n")
		f.systemText = &joined
	}

	return *f.systemText, true
}

func (f *facts) user() (string, bool) {
	f.findLast()

	if f.lastUser < 0 {
		return "", false
	}

	return f.req.Messages[f.lastUser].Content, true
}

// recent are the messages since the last assistant message; tool results are among them.
func (f *facts) recent() []llm.Message {
	f.findLast()

	return f.req.Messages[f.lastAssistant+1:]
}

// findLast looks for the last messages, once: thousands of routes may ask.
func (f *facts) findLast() {
	if f.lastKnown {
		return
	}

	f.lastKnown, f.lastUser, f.lastAssistant = true, -1, -1

	for i := range f.req.Messages {
		switch f.req.Messages[i].Role {
		case llm.RoleUser:
			f.lastUser = i
		case llm.RoleAssistant:
			f.lastAssistant = i
		}
	}
}

func (f *facts) turn() int {
	if !f.turnsKnown {
		f.turnsKnown = true

		for i := range f.req.Messages {
			if f.req.Messages[i].Role == llm.RoleAssistant {
				f.turns++
			}
		}
	}

	return f.turns
}
