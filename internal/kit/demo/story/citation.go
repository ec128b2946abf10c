package story

import (
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// thisCall is how a scripted answer cites the call that it just made. The call's number depends on how many questions came
// before.
const thisCall = " [this call]"

// citing replaces thisCall with the mark of the last call in the conversation, or removes it if there was no call.
func citing(text string, req *llm.Request) string {
	mark := ""

	for _, message := range slices.Backward(req.Messages) {
		line, _, _ := strings.Cut(message.Content, "\n")

		if calls := tarsy.CitedCalls(line); message.Role == llm.RoleTool && len(calls) == 1 && line == tarsy.CallMark(calls[0]) {
			mark = " " + line

			break
		}
	}

	return strings.ReplaceAll(text, thisCall, mark)
}
