package agent

import (
	"fmt"
	"strings"
)

// observation begins the message that tells a model, in the text protocol, what its action came to.
const observation = "Observation: "

// stopAtObservation is where a model stops writing, lest it invents what its action comes to.
const stopAtObservation = "\nObservation:"

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

// reactInstructions tells a model without functions which tools there are and how it asks for them.
func reactInstructions(tools []Tool) string {
	if len(tools) == 0 {
		return "## How you reply\n\n" + answerFormat
	}

	var b strings.Builder

	b.WriteString("## Your tools\n")

	for _, t := range tools {
		fmt.Fprintf(&b, "\n%s", t.textName())

		if description := oneLine(t.Description); description != "" {
			fmt.Fprintf(&b, ": %s", truncate(description, toolDescriptionTokens))
		}

		fmt.Fprintf(&b, "\n  arguments: %s\n", describeSchema(t.Schema))
	}

	return b.String() + "\n## How you reply\n\n" + replyFormat + "\n\n" + replyRules
}

// toolDescriptionTokens bounds what a tool may say of itself.
const toolDescriptionTokens = 500

// recoveryPrompt tells a model what was wrong with its reply, and the form again.
func recoveryPrompt(what problem, tools []Tool) string {
	form := replyFormat
	if len(tools) == 0 {
		form = answerFormat
	}

	return "Your reply could not be used: " + problemText(what) + "\n\n" + form
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
