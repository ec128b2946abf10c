package anthropic

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy/llm"
)

// budgets returns the number of thinking tokens for each reasoning effort, for models that take a number. A model that cannot
// write that many gets a budget that leaves half of its limit for the answer.
func budgets() map[effort]int {
	return map[effort]int{lowEffort: 4096, mediumEffort: 12288, highEffort: 24576, xhighEffort: 40960, maxEffort: 49152}
}

// leastBudget is the smallest budget that the API accepts.
const leastBudget = 1024

// effort is how hard a model thinks, in the API's terms; noEffort is not at all.
type effort string

const (
	noEffort     effort = "none"
	lowEffort    effort = "low"
	mediumEffort effort = "medium"
	highEffort   effort = "high"
	xhighEffort  effort = "xhigh"
	maxEffort    effort = "max"
)

// effortOf returns the effort that a request specifies; "" leaves it to the API.
func effortOf(req *llm.Request) (effort, error) {
	asked := effort(strings.ToLower(strings.TrimSpace(req.ReasoningEffort)))

	if asked == "" || asked == noEffort {
		return asked, nil
	}

	if asked == "minimal" {
		asked = lowEffort
	}

	if _, ok := budgets()[asked]; !ok {
		return "", &llm.Error{
			Class: llm.ClassInvalid, Message: fmt.Sprintf("the reasoning effort %q is not one of none, minimal, low, medium, high, xhigh, max", req.ReasoningEffort),
		}
	}

	return asked, nil
}

// setLimits sets how much the model can write, and how hard it thinks. The API counts thinking as output: a budget is added to
// the requested length of the answer, while a model that decides itself shares the one limit.
func setLimits(body *messageRequest, req *llm.Request) error {
	asked, err := effortOf(req)
	if err != nil {
		return err
	}

	family := familyOf(req.Model)

	limit := family.answer
	if req.MaxOutputTokens > 0 {
		limit = req.MaxOutputTokens
	}

	body.MaxTokens = limit

	if family.thinking == adaptive {
		setAdaptive(body, family, asked)

		return nil
	}

	if asked == "" || asked == noEffort || family.thinking == noThinking {
		return nil
	}

	const half = 2

	total := min(budgets()[asked]+limit, max(family.limit, limit))
	budget := min(budgets()[asked], total-min(limit, total/half))

	if budget < leastBudget || thoughtLost(req) {
		return nil
	}

	body.MaxTokens = total
	body.Thinking = &thinkingConfig{Type: "enabled", BudgetTokens: budget}

	return nil
}

// setAdaptive configures a model that decides itself how hard to think. Such models do not show their thinking unless requested.
func setAdaptive(body *messageRequest, family family, asked effort) {
	switch {
	case asked == noEffort && family.off == disabled:
		body.Thinking = &thinkingConfig{Type: "disabled"}

		return
	case asked == noEffort && family.off == betweenTools:
		body.Thinking = &thinkingConfig{Type: "between_tools"}

		return
	case asked == noEffort && family.off == never:
		asked = lowEffort
	case asked == xhighEffort && family.noXhigh:
		asked = highEffort
	}

	if asked == noEffort || (asked == "" && !family.thinksByDefault) {
		return
	}

	if asked != "" {
		body.setOutput().Effort = asked
	}

	body.Thinking = &thinkingConfig{Type: "adaptive", Display: "summarized"}
}

// thoughtLost reports whether the model is in the middle of a turn, with tool calls, whose thinking is not available: another
// client began it, or it began without thinking. The API rejects thinking from there on. A user message right after tool
// results is sent along with them, and does not end the turn.
func thoughtLost(req *llm.Request) bool {
	lost, results := false, false

	for _, message := range req.Messages {
		switch message.Role {
		case llm.RoleTool:
			results = true
		case llm.RoleUser:
			lost = lost && (results || blank(message.Content))
		case llm.RoleAssistant:
			if blank(message.Content) && len(message.ToolCalls) == 0 {
				continue
			}

			results = false
			if len(message.ToolCalls) > 0 && !lost {
				lost = !signed(message, signer(req.Model))
			}
		}
	}

	return lost
}
