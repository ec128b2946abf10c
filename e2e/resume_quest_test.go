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

// callBrief is the LLM call for the executive summary.
const callBrief = "the summary"

// quest is one session of a world with a chain, a model and a toolbox of its own. What the model answers depends on the
// request alone, and tells two requests apart that differ in a word: so two quests that end in the same words were
// asked the same, whichever servers asked.
type quest struct {
	Tools *toolbox
	// SessionID and Socket are there once it has begun, Question once it was asked.
	SessionID string
	Socket    *tarsytest.Socket
	Question  tarsy.Question

	id    string
	t     testing.TB
	plot  plot
	model *script.Script
	// held are where an LLM call is held, the first time that it is made and so on.
	held map[string][]heldCall
}

// plot is what quests have in common.
type plot struct {
	// agents, server and chain are YAML: the agents, further keys of the toolbox, and those of the chain.
	agents, server, chain string
	// reply is what the model answers to a call, if not what quests usually get.
	reply func(q *quest, call string, req *llm.Request) (script.Reply, bool)
	// calls counts LLM and tool calls, if it is there. LLM calls that come too late for it are not answered.
	calls *trip
}

// newQuest returns a quest under a name that YAML understands.
func newQuest(t testing.TB, id string, plot plot) *quest {
	t.Helper()

	q := &quest{
		id: strings.NewReplacer(" ", "-", "'", "", ",", "").Replace(id), t: t, plot: plot, Tools: newToolbox(t),
		model: script.New(script.Options{}), held: map[string][]heldCall{},
	}
	q.Tools.Calls = plot.calls
	q.model.RouteFunc(func(*llm.Request) bool { return true }, func(req *llm.Request, _ int) script.Reply { return q.reply(req) })

	return q
}

// HoldCall holds an LLM call, the first time that it is made, after a number of chunks; said again, the second time.
func (q *quest) HoldCall(name string, after int) *script.Gate {
	gate := script.NewGate()
	q.held[name] = append(q.held[name], heldCall{gate: gate, after: after})
	q.t.Cleanup(gate.Open)

	return gate
}

// Asked counts how often each LLM call was made.
func (q *quest) Asked() map[string]int {
	asked := map[string]int{}
	for _, call := range q.model.Calls() {
		asked[callName(&call.Request)]++
	}

	return asked
}

// callName tells the LLM calls of a quest apart: by the agent and the turn of its conversation.
func callName(req *llm.Request) string {
	switch req.Purpose {
	case string(tarsy.InteractionExecutiveSummary):
		return callBrief
	case string(tarsy.InteractionSummarization):
		return req.Agent + " shortening"
	default:
		return fmt.Sprintf("%s %d", req.Agent, len(req.Messages)/2)
	}
}

func (q *quest) reply(req *llm.Request) script.Reply {
	if late := q.plot.calls.hit(); late {
		return script.Reply{Hang: true}
	}

	name := callName(req)
	reply, special := script.Reply{}, false

	if q.plot.reply != nil {
		reply, special = q.plot.reply(q, name, req)
	}

	if !special {
		reply = q.usual(name, req)
	}

	if made := q.Asked()[name]; made <= len(q.held[name]) {
		held := q.held[name][made-1]
		reply.Gate, reply.GateAfter = held.gate, held.after
	}

	return reply
}

// usual looks with the tool, if there is one, and then speaks.
func (q *quest) usual(name string, req *llm.Request) script.Reply {
	reply := script.Reply{Thinking: "One moment.", Text: fmt.Sprintf("This is %s, and what it comes to is %x.", name, q.sum(req))}

	if len(req.Tools) > 0 && len(req.Messages) == 2 {
		reply.ToolCalls = []llm.ToolCall{{Name: q.id + "__" + toolLook, Arguments: fmt.Sprintf(`{"by":%q}`, req.Agent)}}
	}

	return reply
}

// sum is a number for what a request says.
func (q *quest) sum(req *llm.Request) uint64 {
	hash := fnv.New64a()
	for _, m := range req.Messages {
		_, _ = fmt.Fprintln(hash, m.Role, inAnyOrder(strings.ReplaceAll(m.Content, q.id, "")))
	}

	return hash.Sum64()
}

// inAnyOrder sorts the lines of a prompt: agents that worked at once are told of in the order in which they began.
func inAnyOrder(prompt string) string {
	lines := strings.Split(prompt, "\n")
	slices.Sort(lines)

	return strings.Join(lines, "\n")
}

// quests send each call to the model of its quest.
type quests []*quest

// Generate implements llm.Client.
func (all quests) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	for _, q := range all {
		if q.id == req.Provider {
			return q.model.Generate(ctx, req)
		}
	}

	return func(yield func(llm.Chunk, error) bool) {
		yield(nil, fmt.Errorf("there is no model %q", req.Provider))
	}
}

// config is the configuration: each quest has an alert type, a chain, a model and a toolbox, all of one name.
func (all quests) config(tools bool) string {
	providers, servers, chains := "llm_providers:\n", "mcp_servers:\n", "agent_chains:\n"

	for _, q := range all {
		used := ""

		if tools {
			servers += fmt.Sprintf("  %s: {transport: {type: http, url: %q}%s}\n", q.id, q.Tools.URL, q.plot.server)
			used = fmt.Sprintf("mcp_servers: [%s], ", q.id)
		}

		providers += fmt.Sprintf("  %s: {type: scripted, model: test-model}\n", q.id)
		chains += fmt.Sprintf("  %[1]s: {alert_types: [%[1]s], llm_provider: %[1]s, %[2]s%[3]s}\n", q.id, used, q.plot.chain)
	}

	return providers + servers + "agents:\n" + all[0].plot.agents + chains
}

// newQuests makes a world with quests of one plot.
func newQuests(t testing.TB, options worldOptions, all ...*quest) *world {
	t.Helper()

	if options.Workers == 0 {
		options.Workers = len(all)
	}

	return openWorld(t, options, quests(all).config, quests(all))
}

// Send submits the alert of a quest and watches its session.
func (w *world) Send(q *quest) {
	w.t.Helper()

	q.SessionID = w.Submit(q.id, "the app is slow")
	q.Socket = w.Watch(q.SessionID)
}

// Put asks the question of a quest, whose session is over.
func (w *world) Put(q *quest) {
	w.t.Helper()

	q.Socket.WaitStatus("completed")
	q.Question = w.Ask(q.SessionID, "is it still slow?")
}

// Await waits for the end of a quest: its session and, if the chain takes questions, the answer to one.
func (w *world) Await(q *quest) {
	w.t.Helper()
	q.Socket.WaitStatus("completed")

	if !strings.Contains(q.plot.chain, "chat:") {
		return
	}

	if q.Question.StageID == "" {
		w.Put(q)
	}

	q.Socket.WaitStage(q.Question.StageID)
}
