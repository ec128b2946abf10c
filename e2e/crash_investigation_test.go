package e2e

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// The LLM calls of an investigation.
const (
	callFirst   = "first"
	callSecond  = "second"
	callThird   = "third"
	callSummary = "summary"
)

const (
	secondText = "One tool has answered, now the next one."
	summary    = "The app was looked after."
)

// investigation is one session of a world: two answers that call a tool each, the analysis and the summary. What the
// model answers depends on the request alone, so it does not matter which server asks, or how often.
type investigation struct {
	Desk *desk
	// Calls counts LLM calls, if it is there. Those that come too late for it are not answered.
	Calls *trip
	// SessionID and Socket are there once it has begun.
	SessionID string
	Socket    *tarsytest.Socket

	id    string
	t     testing.TB
	model *script.Script
	// held are where an LLM call is held, the first time that it is made and so on.
	held map[string][]heldCall
	// second is the tool that the second answer calls.
	second string
}

type heldCall struct {
	gate  *script.Gate
	after int
}

// newInvestigation returns an investigation under a name that YAML, agents and tools understand.
func newInvestigation(t testing.TB, id string) *investigation {
	t.Helper()

	i := &investigation{
		id: strings.ReplaceAll(id, " ", "-"), t: t, Desk: newDesk(t), model: script.New(script.Options{}), held: map[string][]heldCall{}, second: toolInspect,
	}
	i.model.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply { return i.reply(req) })

	return i
}

// HoldCall holds an LLM call, the first time that it is made, after a number of chunks; said again, the second time.
func (i *investigation) HoldCall(name string, after int) *script.Gate {
	gate := script.NewGate()
	i.held[name] = append(i.held[name], heldCall{gate: gate, after: after})

	return gate
}

// HoldTool holds the call of the second tool, which becomes this one, at a place of the desk.
func (i *investigation) HoldTool(tool string, place func(*desk, *hold)) *hold {
	h := newHold(i.t)
	place(i.Desk, h)
	i.second = tool

	return h
}

// The places of a desk at which a call can be held.
func atTheDoor(d *desk, h *hold)  { d.door = h }
func inTheHall(d *desk, h *hold)  { d.hall = h }
func insideTool(d *desk, h *hold) { d.inside = h }

// WaitToolCall waits until the journal says that the second tool is called.
func (i *investigation) WaitToolCall() {
	i.t.Helper()
	i.Socket.Wait("the call of "+i.second, func(e tarsytest.Event) bool {
		metadata, _ := e.Fields["metadata"].(map[string]any)

		return e.Type == tarsy.TypeTimelineCreated && metadata["tool_name"] == i.second
	})
}

func (i *investigation) reply(req *llm.Request) script.Reply {
	if late := i.Calls.hit(); late {
		return script.Reply{Hang: true}
	}

	name := nameOf(req)
	call := func(tool string) []llm.ToolCall { return []llm.ToolCall{{Name: i.id + "__" + tool, Arguments: "{}"}} }

	var reply script.Reply

	switch name {
	case callFirst:
		reply = script.Reply{Thinking: "I look first.", Text: "Looking.", ToolCalls: call(toolLook)}
	case callSecond:
		reply = script.Reply{Thinking: "Go on.", Text: secondText, ToolCalls: call(i.second)}
	case callThird:
		reply = script.Reply{Text: analysisOf(unmarked(req.Messages[len(req.Messages)-1].Content))}
	case callSummary:
		reply = script.Reply{Text: summary}
	default:
		return script.Reply{Err: fmt.Errorf("there is no call %s", name)}
	}

	if made := i.Asked()[name]; made <= len(i.held[name]) {
		held := i.held[name][made-1]
		reply.Gate, reply.GateAfter = held.gate, held.after
	}

	return reply
}

// analysisOf is the analysis, which repeats what the second tool answered.
func analysisOf(toolResult string) string { return "The tool said: " + toolResult }

// nameOf tells an LLM call from the others by what the model is given.
func nameOf(req *llm.Request) string {
	if req.Purpose == string(tarsy.InteractionExecutiveSummary) {
		return callSummary
	}

	names := map[int]string{2: callFirst, 4: callSecond, 6: callThird}
	if name, ok := names[len(req.Messages)]; ok {
		return name
	}

	return fmt.Sprintf("with %d messages", len(req.Messages))
}

// Asked counts how often each LLM call was made.
func (i *investigation) Asked() map[string]int {
	asked := map[string]int{}
	for _, call := range i.model.Calls() {
		asked[nameOf(&call.Request)]++
	}

	return asked
}

// models sends each call to the model of its investigation.
type models []*investigation

// Generate implements llm.Client.
func (m models) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	for _, i := range m {
		if i.id == req.Provider {
			return i.model.Generate(ctx, req)
		}
	}

	return func(yield func(llm.Chunk, error) bool) {
		yield(nil, fmt.Errorf("there is no model %q", req.Provider))
	}
}
