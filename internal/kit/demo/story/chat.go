package story

import (
	"regexp"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// chatAgent is the agent that answers questions.
const chatAgent = "ChatAgent"

// chat has the answers to the questions that a story covers.
type chat struct {
	Why   followUp `yaml:"why"`
	Todo  followUp `yaml:"todo"`
	Still followUp `yaml:"still"`
}

// followUp is the answer to one question: a tool call that checks the current state of the cluster, and the text after it.
type followUp struct {
	Tool      string         `yaml:"tool"`
	Arguments map[string]any `yaml:"arguments"`
	Thinking  string         `yaml:"thinking"`
	Text      string         `yaml:"text"`
}

var (
	asksWhy   = regexp.MustCompile(`(?i)\bwhy\b|\bcaused?\b|\breasons?\b|\bexplain|what (has |had )?happened|how (come|did)`)
	asksStill = regexp.MustCompile(`(?i)\bstill\b|happening|\bagain\b|right now|current(ly)?\b|\bover\b|recovered|\bgone\b|fixed\b`)
	asksTodo  = regexp.MustCompile(`(?i)\b(should|shall|must|can|do|could) (i|we)\b|what (to do|next|now)|next steps?|\bfix\b|how (do|can|to)\b|actions?\b|mitigate`)
)

// topic returns the answer to a question, or nil if there is none.
func (c *chat) topic(question string) *followUp {
	switch {
	case asksWhy.MatchString(question):
		return &c.Why
	case asksTodo.MatchString(question):
		return &c.Todo
	case asksStill.MatchString(question):
		return &c.Still
	default:
		return nil
	}
}

// questionMark precedes the question in the engine's prompt.
const questionMark = "Question:\n\n"

// question returns the question that was asked last.
func question(req *llm.Request) string {
	for _, message := range req.Messages {
		if i := strings.LastIndex(message.Content, questionMark); message.Role == llm.RoleUser && i >= 0 {
			return message.Content[i+len(questionMark):]
		}
	}

	return ""
}

// answer answers a question about a session. The story is nil if the session's alert is not part of any story.
func (s *story) answer(req *llm.Request) script.Reply {
	if s == nil {
		return script.Reply{Text: "Nothing was investigated here, so I have nothing to report. " + whatIAm}
	}

	topic := s.Chat.topic(question(req))
	if topic == nil {
		return script.Reply{
			Thinking: "None of the questions that I was written for. I say what I can do instead of making something up.",
			Text:     "I cannot answer that. " + whatIAm + "\n\nResult of the investigation: " + strings.Join(strings.Fields(s.ExecutiveSummary), " "),
		}
	}

	use := toolUse{Tool: topic.Tool, Arguments: topic.Arguments}
	call, ok := use.call(req.Tools)

	if ok && answers(req) == 0 && req.Purpose == string(tarsy.InteractionIteration) {
		return script.Reply{Thinking: strings.TrimSpace(topic.Thinking), ToolCalls: []llm.ToolCall{call}}
	}

	return script.Reply{Text: citing(strings.TrimSpace(topic.Text), req)}
}

const whatIAm = `This demo's model is a script. About each of its own alerts it can answer three questions, and it looks at the cluster for each:

- **Why** did it happen?
- **What should I do?**
- Is it **still happening**?

With a real LLM provider configured, you may ask whatever you like.`
