package agent

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tarsy.dev/tarsy"
)

// RepeatedCalls configures the limits for an agent that keeps making the same tool call: from Warn calls on it is warned, and at
// Conclude it must conclude. Zero disables either.
type RepeatedCalls struct {
	Warn     int `json:"warn,omitempty"`
	Conclude int `json:"conclude,omitempty"`
}

// cycle is how many different calls a loop can alternate between and still be detected.
const cycle = 3

// window returns how many of the last calls are checked for repetitions.
func (c RepeatedCalls) window() int { return cycle * max(c.Warn, c.Conclude) }

func (c RepeatedCalls) warns(count int) bool { return c.Warn > 0 && count >= c.Warn }

func (c RepeatedCalls) concludes(count int) bool { return c.Conclude > 0 && count >= c.Conclude }

// repetitions returns how often a call was made among the last ones, including itself. It counts recorded calls, so that the result is
// the same on a server that continues the session.
func (r *run) repetitions(last *tarsy.MCPInteraction) int {
	calls, window, count := r.MCPInteractions, r.Spec.RepeatedCalls.window(), 1

	for i, seen := len(calls)-1, 1; i >= 0 && seen < window; i-- {
		if calls[i].Status == tarsy.CallStarted || calls[i].ID == last.ID {
			continue
		}

		seen++

		if r.sameCall(&calls[i], last) {
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

// sameCall reports whether two calls are of the same tool with the same arguments, regardless of the order of keys.
func (r *run) sameCall(a, b *tarsy.MCPInteraction) bool {
	return a.ServerName == b.ServerName && a.ToolName == b.ToolName &&
		(bytes.Equal(a.ToolArguments, b.ToolArguments) || r.canonical.of(a.ToolArguments) == r.canonical.of(b.ToolArguments))
}

// canonicalTexts are arguments and what they are in canonical form: each call is compared with the calls before it several times.
type canonicalTexts map[string]string

// Enough for the calls that are compared again; older ones are forgotten, and long ones are not kept.
const (
	maxCanonicalTexts = 64
	maxCanonicalText  = 4 << 10
)

func (c *canonicalTexts) of(arguments []byte) string {
	if len(arguments) > maxCanonicalText {
		return canonical(arguments)
	}

	if text, known := (*c)[string(arguments)]; known {
		return text
	}

	if *c == nil || len(*c) == maxCanonicalTexts {
		*c = canonicalTexts{}
	}

	text := canonical(arguments)
	(*c)[string(arguments)] = text

	return text
}

func canonical(arguments []byte) string {
	var value any
	if json.Unmarshal(arguments, &value) == nil {
		if text, err := json.Marshal(value); err == nil {
			return string(text)
		}
	}

	return string(arguments)
}

// repeatedTooOften reports whether the agent must conclude because of how often it has made its last call.
func (r *run) repeatedTooOften() bool {
	last := lastFinished(r.MCPInteractions)

	return last != nil && r.Spec.RepeatedCalls.concludes(r.repetitions(last))
}

// repeatNotice returns the warning that is appended to the result of a repeated call; empty if there is none.
func (r *run) repeatNotice(finished tarsy.MCPInteraction) string {
	limits := r.Spec.RepeatedCalls

	count := r.repetitions(&finished)
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
