package script

import (
	"net/http"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// AgentHeader is the header that names the agent of a call over the wire.
const AgentHeader = "X-Tarsy-Agent"

// facts are what conditions check in one call. Expensive ones are computed on first use. They belong to one goroutine.
type facts struct {
	req    *llm.Request
	header http.Header

	systemText *string
	turns      int
	turnsKnown bool
	// lastUser and lastAssistant are the positions of the last messages of these roles, -1 for none.
	lastUser, lastAssistant int
	lastKnown               bool
}

// identify returns the request with its agent. Only calls over the wire are inspected: a call from within the process specifies
// its agent.
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

// agentInPrompt returns NAME if a text begins with "You are NAME,".
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

// text returns the text that a condition checks, and whether there is any.
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

// system returns all system texts. Usually there is only one, which is not copied.
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

// recent returns the messages since the last assistant message, including tool results.
func (f *facts) recent() []llm.Message {
	f.findLast()

	return f.req.Messages[f.lastAssistant+1:]
}

// findLast finds the last messages, once: thousands of routes may ask for them.
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
