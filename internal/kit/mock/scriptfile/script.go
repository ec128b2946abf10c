package scriptfile

import (
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"

	"github.com/jonboulle/clockwork"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
)

// remembered is how many calls a script keeps, so that a long-running server does not grow.
const remembered = 1000

// Script returns a new script that plays the file. Each script has its own gates, which it knows by name.
func (f *File) Script(clock clockwork.Clock) *script.Script {
	return f.script(script.Options{Clock: clock, Keep: remembered})
}

// ServerScript is like Script, for a server: it keeps no calls, because the server's journal does.
func (f *File) ServerScript(clock clockwork.Clock) *script.Script {
	return f.script(script.Options{Clock: clock, Forget: true})
}

func (f *File) script(options script.Options) *script.Script {
	if f.Profile != nil {
		options.Pace = *f.Profile.pace()
	}

	if f.Faults != nil {
		options.Faults = script.Faults{Seed: f.Faults.Seed, Rate: f.Faults.Rate}
		for _, kind := range f.Faults.Kinds {
			options.Faults.Kinds = append(options.Faults.Kinds, script.FaultKind(kind))
		}
	}

	s := script.New(options)
	s.Add(replies(s, f.Replies)...)

	for _, route := range f.Routes {
		if err := s.On(route.match(), replies(s, route.Replies)...); err != nil {
			panic("scriptfile: a file that was checked: " + err.Error())
		}
	}

	return s
}

// GateNames returns the names of all gates, sorted.
func (f *File) GateNames() []string {
	names := map[string]bool{}
	for _, name := range f.Gates {
		names[name] = true
	}

	all := slices.Clone(f.Replies)
	for _, route := range f.Routes {
		all = append(all, route.Replies...)
	}

	for _, reply := range all {
		if reply.Gate != nil {
			names[reply.Gate.Name] = true
		}
	}

	return slices.Sorted(maps.Keys(names))
}

func (p *Profile) pace() *script.Pace {
	if p == nil {
		return nil
	}

	return &script.Pace{FirstToken: p.TTFT, TokensPerSecond: p.TPS, Jitter: p.Jitter, Seed: p.Seed, Speed: p.Speed}
}

func (r *Route) match() script.Match {
	match := script.Match{
		Name: r.Name, Agent: r.When.Agent, Purpose: r.When.Purpose, Turn: r.When.Turn,
		Model: condition(r.When.Model), System: condition(r.When.System), User: condition(r.When.User), ToolResult: condition(r.When.ToolResult),
		Header: make(map[string]script.Text, len(r.When.Header)),
	}

	for name, text := range r.When.Header {
		match.Header[name] = condition(&text)
	}

	return match
}

func condition(t *Text) script.Text {
	if t == nil {
		return script.Text{}
	}

	return script.Text{Equals: t.Equals, Contains: t.Contains, Matches: t.Matches}
}

func replies(s *script.Script, written []Reply) []script.Reply {
	made := make([]script.Reply, len(written))
	for i := range written {
		made[i] = written[i].reply(s)
	}

	return made
}

func (r *Reply) reply(s *script.Script) script.Reply {
	reply := script.Reply{
		Text: r.Text, Thinking: r.Thinking, Signature: r.Signature, Stop: llm.StopReason(r.Stop), Hang: r.Hang,
		Pace: r.Profile.pace(), Trickle: r.Trickle, Times: int(r.Times),
	}

	for _, call := range r.ToolCalls {
		reply.ToolCalls = append(reply.ToolCalls, call.call())
	}

	for _, chunk := range r.Chunks {
		reply.Chunks = append(reply.Chunks, chunk.chunk())
	}

	if u := r.Usage; u != nil {
		reply.Usage = &llm.UsageChunk{InputTokens: u.Input, OutputTokens: u.Output, ThinkingTokens: u.Thinking, CachedTokens: u.Cached}
	}

	if r.Error != nil {
		reply.Err, reply.AfterChunks = r.Error.err(), r.Error.AfterChunks
	}

	if r.Fault != nil {
		reply.Fault = &script.Fault{Kind: script.FaultKind(r.Fault.Kind), AfterChunks: r.Fault.AfterChunks}
	}

	if r.Gate != nil {
		reply.Gate, reply.GateAfter = s.Gate(r.Gate.Name), r.Gate.AfterChunks
	}

	if r.Hang && (r.Text != "" || r.Thinking != "" || len(r.ToolCalls)+len(r.Chunks) > 0) {
		reply.AfterChunks = math.MaxInt
	}

	return reply
}

func (c *ToolCall) call() llm.ToolCall {
	call := llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: "{}"}

	var text string

	switch {
	case c.Arguments == nil:
	case json.Unmarshal(c.Arguments, &text) == nil:
		call.Arguments = text
	default:
		call.Arguments = string(c.Arguments)
	}

	return call
}

func (c *Chunk) chunk() llm.Chunk {
	switch {
	case c.Thinking != nil:
		return llm.ThinkingChunk{Text: *c.Thinking}
	case c.ToolCall != nil:
		return llm.ToolCallChunk{Call: c.ToolCall.call()}
	case c.CodeExecution != nil:
		return llm.CodeExecutionChunk{Code: c.CodeExecution.Code, Result: c.CodeExecution.Result}
	case c.GoogleSearch != nil:
		return llm.GroundingChunk{Kind: "google_search", Queries: c.GoogleSearch.Queries, Sources: sources(c.GoogleSearch.Sources)}
	case c.URLContext != nil:
		return llm.GroundingChunk{Kind: "url_context", Sources: sources(c.URLContext.Sources)}
	default:
		return llm.TextChunk{Text: c.Text}
	}
}

func sources(written []Source) []llm.Source {
	made := make([]llm.Source, len(written))
	for i, source := range written {
		made[i] = llm.Source{Title: source.Title, URL: source.URL}
	}

	return made
}

// err returns the error as a client of the provider would see it.
func (e *Error) err() *llm.Error {
	made := &llm.Error{Class: llm.ClassUnknown, Code: e.Code, Message: e.Message}
	if e.Status != 0 {
		made = llm.ErrorOfStatus(e.Status, nil, e.Code, e.Message)
	}

	if e.Class != "" {
		made.Class = llm.Class(e.Class)
		made.Retryable = made.Class == llm.ClassQuota || made.Class == llm.ClassTransient
	}

	if made.Message == "" {
		made.Message = message(made)
	}

	made.RetryAfter = e.RetryAfter

	return made
}

func message(e *llm.Error) string {
	if text := http.StatusText(e.Status); text != "" {
		return text
	}

	return "scripted error of class " + string(e.Class)
}
