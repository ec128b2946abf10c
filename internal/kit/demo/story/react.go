package story

import (
	"fmt"
	"regexp"
	"strings"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// isReact reports whether the agent uses the text protocol: its tools are in the instructions, not in the request.
func isReact(req *llm.Request) bool {
	return len(req.Tools) == 0 && strings.Contains(instructions(req), "\nFinal Answer:")
}

func instructions(req *llm.Request) string {
	if len(req.Messages) == 0 || req.Messages[0].Role != llm.RoleSystem {
		return ""
	}

	return req.Messages[0].Content
}

// named matches the tools that the instructions list, as server.tool at the start of a line.
var named = regexp.MustCompile(`(?m)^([\w-]+\.\w+)(?::|$)`)

// inSteps returns the stage with one tool call per turn, as the text protocol requires.
func (s *stage) inSteps() *stage {
	steps := &stage{Agent: s.Agent, Conclusion: s.Conclusion}

	for _, t := range s.Turns {
		if len(t.Tools) == 0 {
			steps.Turns = append(steps.Turns, t)
		}

		for i, use := range t.Tools {
			step := turn{Thinking: t.Thinking, Tools: []toolUse{use}}
			if i > 0 {
				step.Thinking = "That was one half of what I wanted to see; this is the other."
			}

			steps.Turns = append(steps.Turns, step)
		}
	}

	return steps
}

// withTools adds the tools listed in the instructions to a copy of a text protocol request.
func withTools(req *llm.Request) *llm.Request {
	bound := *req

	for _, found := range named.FindAllStringSubmatch(instructions(req), -1) {
		bound.Tools = append(bound.Tools, llm.Tool{Name: found[1]})
	}

	return &bound
}

// inText converts a reply to the text protocol.
func inText(reply script.Reply) script.Reply {
	if reply.Err != nil {
		return reply
	}

	var text strings.Builder

	if thought := strings.Join(strings.Fields(reply.Thinking), " "); thought != "" {
		fmt.Fprintf(&text, "Thought: %s\n", thought)
	}

	if len(reply.ToolCalls) == 0 {
		return script.Reply{Text: text.String() + "Final Answer: " + reply.Text}
	}

	call := reply.ToolCalls[0]
	fmt.Fprintf(&text, "Action: %s\nAction Input: %s", call.Name, call.Arguments)

	return script.Reply{Text: text.String()}
}
