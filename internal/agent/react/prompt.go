package react

import (
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy/internal/agent/quote"
)

// Observation begins the message that gives a model the result of its action.
const Observation = "Observation: "

// StopSequence is where a model must stop writing, so that it does not invent the result of its action.
const StopSequence = "\nObservation:"

// Ending tells a model how to end its work. It is part of the general instructions.
const Ending = `When you are done, write it in Markdown after "Final Answer:".`

// ConclusionFormat ends the message that tells a model to conclude without any more tools.
const ConclusionFormat = "Write no further Action. Reply in this form:\n\n" +
	"Thought: what the findings come to\nFinal Answer: your answer, in Markdown"

// Tool is a tool as the prompt lists it. Name is the one that the model writes after "Action:".
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// replyFormat is the form of every reply in the text protocol.
const replyFormat = `To use a tool, write:

Thought: what you want to know, and why
Action: the name of one tool
Action Input: its arguments, as a JSON object

Then stop. The next message tells you, after "Observation:", what the tool answered.

When you know enough, write:

Thought: what the findings come to
Final Answer: your answer, in Markdown`

const replyRules = `Rules of the form:
- One Action in a reply, or a Final Answer, never both.
- Never write an Observation yourself. It is always given to you; what you invent is thrown away.
- Each heading stands at the beginning of a line, with its colon.
- Use only the tools listed here, by their full names.`

const answerFormat = `You have no tools. Reply in this form:

Thought: what the data you were given comes to
Final Answer: your answer, in Markdown`

// Instructions list the tools and explain the form of a reply. They end the system prompt.
func Instructions(tools []Tool) string {
	if len(tools) == 0 {
		return "## How you reply\n\n" + answerFormat
	}

	var b strings.Builder

	b.WriteString("## Your tools\n")

	for _, t := range tools {
		fmt.Fprintf(&b, "\n%s", t.Name)

		if description := quote.OneLine(t.Description); description != "" {
			fmt.Fprintf(&b, ": %s", quote.Truncate(description, toolDescriptionTokens))
		}

		fmt.Fprintf(&b, "\n  arguments: %s\n", describeSchema(t.Schema))
	}

	return b.String() + "\n## How you reply\n\n" + replyFormat + "\n\n" + replyRules
}

// toolDescriptionTokens bounds the description of one tool.
const toolDescriptionTokens = 500

// Correction tells a model what is wrong with its malformed reply and repeats the form.
func (r Reply) Correction(hasTools bool) string {
	form := replyFormat
	if !hasTools {
		form = answerFormat
	}

	return "Your reply could not be used: " + problemText(r.problem) + "\n\n" + form
}

func problemText(what problem) string {
	switch what {
	case problemEmpty:
		return "it was empty."
	case problemThought:
		return "it has a Thought, but neither an Action nor a Final Answer after it."
	case problemObservation:
		return "it has an Observation that you wrote yourself. Only the result of a tool is an Observation, and it is given to you after your Action."
	case problemNoTool:
		return "its Action names no tool."
	case problemInput:
		return "it has an Action Input, but no Action that names a tool."
	case problemNoAnswer:
		return "there is nothing after its Final Answer."
	case problemHeadings:
		return `it has neither an "Action:" nor a "Final Answer:" at the beginning of a line.`
	default:
		return "it does not follow the form."
	}
}
