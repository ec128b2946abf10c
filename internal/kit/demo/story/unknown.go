package story

import (
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

const (
	unknownHeading = "# An alert the demo does not know"

	unknownSummary = "This alert was not investigated: the demo's model is a script that knows only the demo's own alerts. " +
		"The pipeline around it ran for real. Configure an LLM provider to investigate alerts like this one."

	finishedReply = "The investigation of this alert is finished. The demo's model is a script and has nothing to add to what it " +
		"wrote above; with a real LLM provider configured, this is where an answer would be."
)

// unknownAlert answers an alert that is not part of any story: it makes one tool call, then explains that the model is a
// script.
func (b *book) unknownAlert(req *llm.Request) script.Reply {
	look := toolUse{Tool: "list_namespaces"}

	if call, ok := look.call(req.Tools); ok && answers(req) == 0 && req.Purpose == string(tarsy.InteractionIteration) {
		return script.Reply{
			Thinking: "This alert is in none of the stories that I was written for. " +
				"I can still look at which namespaces the cluster has, so that the tool path is exercised, and then say so plainly.",
			ToolCalls: []llm.ToolCall{call},
		}
	}

	if answers(req) > 1 {
		return script.Reply{Text: finishedReply}
	}

	var text strings.Builder

	text.WriteString(unknownHeading + "\n\n## Summary\n\n" +
		"**Nothing was investigated.** This demo's model is a script; it knows only the demo's own alerts, and yours is none of them. " +
		"Your alert went the whole real way: intake, queue, agent, tools, journal. " +
		"Only the thinking is missing, and the script will not make any up.\n\n## What the script knows\n\n" +
		"| Alert type | Story |\n| --- | --- |\n")

	for _, s := range b.stories {
		text.WriteString("| `" + s.AlertType + "` | " + s.Title + " |\n")
	}

	text.WriteString("\n## Recommended actions\n\n" +
		"1. Submit one of the demo's own alerts to see a whole investigation.\n" +
		"2. Configure an LLM provider and your own MCP servers to have this alert investigated by a model.\n")

	return script.Reply{
		Thinking: "No story fits, so there is no evidence to weigh. I say what this is and what would help.",
		Text:     text.String(),
	}
}
