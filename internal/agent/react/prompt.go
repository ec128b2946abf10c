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
const Ending = `When you have finished, write your answer in Markdown after "Final Answer:".`

// ConclusionFormat ends the message that tells a model to conclude without any more tools.
const ConclusionFormat = "Do not write another Action. Reply in this format:\n\n" +
	"Thought: what the findings mean\nFinal Answer: your answer, in Markdown"

// Tool is a tool in the prompt. Name is what the model writes after "Action:".
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage
}

// replyFormat describes the form of every reply in the text protocol.
const replyFormat = `To use a tool, write:

Thought: what you want to know, and why
Action: the name of one tool
Action Input: its arguments, as a JSON object

Then stop. The next message contains the tool's result after "Observation:".

When you have enough evidence, write:

Thought: what the findings mean
Final Answer: your answer, in Markdown`

const replyRules = `Format rules:
- Write one Action or one Final Answer per reply, never both.
- Never write an Observation yourself. Invented observations are discarded.
- Start each heading at the beginning of a line and end it with a colon.
- Use only the tools listed here, with their full names.`

const answerFormat = `You have no tools. Reply in this format:

Thought: what the data means
Final Answer: your answer, in Markdown`

// Instructions list the tools and explain the form of a reply. They end the system prompt.
func Instructions(tools []Tool) string {
	if len(tools) == 0 {
		return "## Reply format\n\n" + answerFormat
	}

	var b strings.Builder

	b.WriteString("## Tools\n")

	for _, t := range tools {
		fmt.Fprintf(&b, "\n%s", t.Name)

		if description := quote.OneLine(t.Description); description != "" {
			fmt.Fprintf(&b, ": %s", quote.Truncate(description, toolDescriptionTokens))
		}

		fmt.Fprintf(&b, "\n  arguments: %s\n", describeSchema(t.Schema))
	}

	return b.String() + "\n## Reply format\n\n" + replyFormat + "\n\n" + replyRules
}

// toolDescriptionTokens limits the description of one tool.
const toolDescriptionTokens = 500

// Correction explains to a model what is wrong with its malformed reply and repeats the format.
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
		return "it has a Thought, but no Action or Final Answer after it."
	case problemObservation:
		return "it contains an Observation. Observations are tool results, which you receive after your Action."
	case problemNoTool:
		return "its Action names no tool."
	case problemInput:
		return "it has an Action Input, but no Action that names a tool."
	case problemNoAnswer:
		return "its Final Answer is empty."
	case problemHeadings:
		return `it has neither an "Action:" nor a "Final Answer:" at the beginning of a line.`
	default:
		return "it does not follow the format."
	}
}
