package anthropic

import (
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"tarsy.dev/tarsy/llm"
)

// budgets are the tokens that a reasoning effort stands for, with models that want to be told so. A model that cannot
// write as much gets what leaves half of its limit for the answer.
func budgets() map[sdk.OutputConfigEffort]int {
	return map[sdk.OutputConfigEffort]int{
		sdk.OutputConfigEffortLow:    4096,
		sdk.OutputConfigEffortMedium: 12288,
		sdk.OutputConfigEffortHigh:   24576,
		sdk.OutputConfigEffortXhigh:  40960,
		sdk.OutputConfigEffortMax:    49152,
	}
}

// leastBudget is the smallest that the API takes.
const leastBudget = 1024

// noEffort asks the model not to think.
const noEffort = sdk.OutputConfigEffort("none")

// effortOf is the effort in the API's words, or none; "" leaves it to the API.
func effortOf(req *llm.Request) (sdk.OutputConfigEffort, error) {
	effort := sdk.OutputConfigEffort(strings.ToLower(strings.TrimSpace(req.ReasoningEffort)))

	if effort == "" || effort == noEffort {
		return effort, nil
	}

	if effort == "minimal" {
		effort = sdk.OutputConfigEffortLow
	}

	if _, ok := budgets()[effort]; !ok {
		return "", &llm.Error{
			Class: llm.ClassInvalid, Message: fmt.Sprintf("the reasoning effort %q is not one of none, minimal, low, medium, high, xhigh, max", req.ReasoningEffort),
		}
	}

	return effort, nil
}

// setLimits sets how much the model may write, and how hard it thinks. The API counts thinking as writing: a budget comes on
// top of the answer that was asked for, while a model that decides itself shares the one limit.
func setLimits(params *sdk.MessageNewParams, req *llm.Request) error {
	effort, err := effortOf(req)
	if err != nil {
		return err
	}

	family := familyOf(req.Model)

	limit := family.answer
	if req.MaxOutputTokens > 0 {
		limit = req.MaxOutputTokens
	}

	params.MaxTokens = int64(limit)

	if family.thinking == adaptive {
		setAdaptive(params, family, effort)

		return nil
	}

	if effort == "" || effort == noEffort || family.thinking == thoughtless {
		return nil
	}

	const half = 2

	total := min(budgets()[effort]+limit, max(family.limit, limit))
	budget := min(budgets()[effort], total-min(limit, total/half))

	if budget < leastBudget || thoughtLost(req) {
		return nil
	}

	params.MaxTokens = int64(total)
	params.Thinking = sdk.ThinkingConfigParamOfEnabled(int64(budget))

	return nil
}

// setAdaptive tells a model that decides itself how hard to think. Such models keep their thinking to themselves unless they
// are asked to show it.
func setAdaptive(params *sdk.MessageNewParams, family family, effort sdk.OutputConfigEffort) {
	switch {
	case effort == noEffort && family.off == disabled:
		params.Thinking = sdk.ThinkingConfigParamUnion{OfDisabled: &sdk.ThinkingConfigDisabledParam{}}

		return
	case effort == noEffort && family.off == betweenTools:
		between := sdk.NewThinkingConfigBetweenToolsParam()
		params.Thinking = sdk.ThinkingConfigParamUnion{OfBetweenTools: &between}

		return
	case effort == noEffort && family.off == never:
		effort = sdk.OutputConfigEffortLow
	case effort == sdk.OutputConfigEffortXhigh && family.noXhigh:
		effort = sdk.OutputConfigEffortHigh
	}

	if effort == noEffort || (effort == "" && !family.unasked) {
		return
	}

	params.OutputConfig.Effort = effort
	params.Thinking = sdk.ThinkingConfigParamUnion{
		OfAdaptive: &sdk.ThinkingConfigAdaptiveParam{Display: sdk.ThinkingConfigAdaptiveDisplaySummarized},
	}
}

// thoughtLost tells that the model is in the middle of a turn, with calls of tools, whose thinking is not at hand: another
// client began it, or it began without. The API refuses to think on from there. What the user says right after results of
// tools goes along with them, and ends no turn.
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
