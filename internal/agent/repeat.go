package agent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tarsy.dev/tarsy"
)

// RepeatedCalls say what happens to an agent that makes the same tool call again and again: from Warn calls on it is told, and at
// Conclude it must conclude. Zero switches either off.
type RepeatedCalls struct {
	Warn     int `json:"warn,omitempty"`
	Conclude int `json:"conclude,omitempty"`
}

// cycle is how many different calls a loop may alternate between and still be found.
const cycle = 3

// window is among how many of the last calls repetitions are counted.
func (c RepeatedCalls) window() int { return cycle * max(c.Warn, c.Conclude) }

func (c RepeatedCalls) warns(count int) bool { return c.Warn > 0 && count >= c.Warn }

func (c RepeatedCalls) concludes(count int) bool { return c.Conclude > 0 && count >= c.Conclude }

// repetitions returns how often a call was made among the last ones, itself included. It is counted from what is recorded, so that it
// is the same on a server that continues the session.
func repetitions(calls []tarsy.MCPInteraction, last *tarsy.MCPInteraction, window int) int {
	count := 1

	for i, seen := len(calls)-1, 1; i >= 0 && seen < window; i-- {
		if calls[i].Status == tarsy.CallStarted || calls[i].ID == last.ID {
			continue
		}

		seen++

		if sameCall(&calls[i], last) {
			count++
		}
	}

	return count
}

// lastFinished returns the last call that has a result; nil if there is none.
func lastFinished(calls []tarsy.MCPInteraction) *tarsy.MCPInteraction {
	for i := len(calls) - 1; i >= 0; i-- {
		if calls[i].Status != tarsy.CallStarted {
			return &calls[i]
		}
	}

	return nil
}

// sameCall reports whether two calls are of the same tool with the same arguments, in whatever order their keys are.
func sameCall(a, b *tarsy.MCPInteraction) bool {
	return a.ServerName == b.ServerName && a.ToolName == b.ToolName &&
		(bytes.Equal(a.ToolArguments, b.ToolArguments) || bytes.Equal(canonical(a.ToolArguments), canonical(b.ToolArguments)))
}

func canonical(arguments []byte) []byte {
	var value any
	if json.Unmarshal(arguments, &value) == nil {
		if text, err := json.Marshal(value); err == nil {
			return text
		}
	}

	return arguments
}

// mustConclude reports whether the agent has repeated its last call too often.
func (c RepeatedCalls) mustConclude(calls []tarsy.MCPInteraction) bool {
	last := lastFinished(calls)

	return last != nil && c.concludes(repetitions(calls, last, c.window()))
}

// repeatNotice is what the model is told with the result of a call that it repeats; empty if it may.
func (r *run) repeatNotice(finished tarsy.MCPInteraction) string {
	limits := r.Spec.RepeatedCalls

	count := repetitions(r.MCPInteractions, &finished, limits.window())
	if !limits.warns(count) || limits.concludes(count) {
		return ""
	}

	notice := fmt.Sprintf("\n\n[TARSy: you have made this call with the same arguments %d times. Do not repeat it: "+
		"use another tool or other arguments, or give your final answer.", count)
	if limits.Conclude > 0 {
		notice += fmt.Sprintf(" After %d identical calls you must conclude.", limits.Conclude)
	}

	return notice + "]"
}
