package e2e

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"testing"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// callSummary and callVerdict are the LLM calls for the executive summary and for the verdict.
const (
	callSummary = "the summary"
	callVerdict = "the verdict"
)

// investigation is one session of a world, with its own chain, model and desk. The model's answers depend only on the
// request, and differ between requests that differ in a word: if two investigations end with the same words, their requests
// were the same, whichever servers sent them and however often.
type investigation struct {
	Desk *desk
	// SessionID and Socket are set once it has begun, Question once it was asked.
	SessionID string
	Socket    *tarsytest.Socket
	Question  tarsy.Question

	id     string
	t      testing.TB
	recipe recipe
	model  *script.Script
	// held are the points at which an LLM call is held, in the order of its attempts.
	held map[string][]heldCall
}

type heldCall struct {
	gate  *script.Gate
	after int
}

// recipe is what several investigations have in common.
type recipe struct {
	// agents, server and chain are YAML: the agents, further keys of the desk, and those of the chain.
	agents, server, chain string
	// reply returns the model's reply to a call, or false for the usual one.
	reply func(i *investigation, call string, req *llm.Request) (script.Reply, bool)
	// second is the tool that is called second, in recipes that call two.
	second string
	// verdicts makes the model write the verdict too; otherwise the kit does.
	verdicts bool
	// calls counts LLM and tool calls, if it is set. LLM calls after the last one it waits for are not answered.
	calls *trip
}

// newInvestigation returns an investigation with an id that is valid in YAML.
func newInvestigation(t testing.TB, id string, recipe recipe) *investigation {
	t.Helper()

	i := &investigation{
		id: strings.NewReplacer(" ", "-", "'", "", ",", "").Replace(id), t: t, recipe: recipe, Desk: newDesk(t),
		model: script.New(script.Options{}), held: map[string][]heldCall{},
	}
	i.Desk.Calls = recipe.calls
	i.model.RouteFunc(everyRequest, func(req *llm.Request, _ int) script.Reply { return i.reply(req) })

	return i
}

func everyRequest(*llm.Request) bool { return true }

// HoldCall holds the first attempt of an LLM call after a number of chunks; called again, it holds the second attempt.
func (i *investigation) HoldCall(name string, after int) *script.Gate {
	gate := script.NewGate()
	i.held[name] = append(i.held[name], heldCall{gate: gate, after: after})
	i.t.Cleanup(gate.Open)

	return gate
}

// Asked counts how often each LLM call was made.
func (i *investigation) Asked() map[string]int {
	asked := map[string]int{}
	for _, call := range i.model.Calls() {
		asked[callName(&call.Request)]++
	}

	return asked
}

// callName identifies an LLM call of an investigation by the agent and the turn of its conversation.
func callName(req *llm.Request) string {
	switch req.Purpose {
	case string(tarsy.InteractionExecutiveSummary):
		return callSummary
	case string(tarsy.InteractionVerdict):
		return callVerdict
	case string(tarsy.InteractionSummarization):
		return req.Agent + " shortening"
	default:
		return fmt.Sprintf("%s %d", req.Agent, len(req.Messages)/2)
	}
}

func (i *investigation) reply(req *llm.Request) script.Reply {
	if late := i.recipe.calls.hit(); late {
		return script.Reply{Hang: true}
	}

	name := callName(req)
	reply, special := script.Reply{}, false

	if i.recipe.reply != nil {
		reply, special = i.recipe.reply(i, name, req)
	}

	if !special {
		reply = i.usual(name, req)
	}

	if made := i.Asked()[name]; made <= len(i.held[name]) {
		held := i.held[name][made-1]
		reply.Gate, reply.GateAfter = held.gate, held.after
	}

	return reply
}

// usual returns the default reply: a call of the tool, if there is one, and then a text.
func (i *investigation) usual(name string, req *llm.Request) script.Reply {
	reply := script.Reply{Thinking: "One moment.", Text: fmt.Sprintf("This is %s, and the result is %x.", name, i.sum(req))}

	if len(req.Tools) > 0 && len(req.Messages) == 2 {
		reply.ToolCalls = i.call(toolLook, fmt.Sprintf(`{"by":%q}`, req.Agent))
	}

	return reply
}

// call returns a call of a tool of the investigation's desk.
func (i *investigation) call(tool, arguments string) []llm.ToolCall {
	return []llm.ToolCall{{Name: i.id + "__" + tool, Arguments: arguments}}
}

// sum returns a hash of a request's text.
func (i *investigation) sum(req *llm.Request) uint64 {
	hash := fnv.New64a()
	for _, m := range req.Messages {
		_, _ = fmt.Fprintln(hash, m.Role, inAnyOrder(strings.ReplaceAll(m.Content, i.id, "")))
	}

	return hash.Sum64()
}

// inAnyOrder sorts the lines of a prompt: agents that worked in parallel appear in it in the order in which they began.
func inAnyOrder(prompt string) string {
	lines := strings.Split(prompt, "\n")
	slices.Sort(lines)

	return strings.Join(lines, "\n")
}

// investigations are those of a world. As an llm.Client, they pass each call to the model of its investigation.
type investigations []*investigation

// Generate implements llm.Client.
func (all investigations) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	for _, i := range all {
		if i.id == req.Provider {
			return i.model.Generate(ctx, req)
		}
	}

	return func(yield func(llm.Chunk, error) bool) {
		yield(nil, fmt.Errorf("there is no model %q", req.Provider))
	}
}

// Routed leaves verdicts to the kit unless the recipe writes them.
func (all investigations) Routed(req *llm.Request) bool {
	for _, i := range all {
		if i.id == req.Provider {
			return i.recipe.verdicts
		}
	}

	return false
}

// config returns the configuration, in which each investigation has an alert type, a chain, a model and a desk of the same
// name. All servers need it: a session follows the chain of the server to which it was submitted.
func (all investigations) config() string {
	providers, servers, chains := "llm_providers:\n", "mcp_servers:\n", "agent_chains:\n"

	for _, i := range all {
		servers += fmt.Sprintf("  %s: {transport: {type: http, url: %q}%s}\n", i.id, i.Desk.URL, i.recipe.server)
		providers += fmt.Sprintf("  %s: {type: scripted, model: test-model}\n", i.id)
		chains += fmt.Sprintf("  %[1]s: {alert_types: [%[1]s], llm_provider: %[1]s, mcp_servers: [%[1]s], %[2]s}\n", i.id, i.recipe.chain)
	}

	return providers + servers + "agents:\n" + all[0].recipe.agents + chains
}
