// Package scriptfile reads the YAML files that script a virtual model: which calls there are, and what each is answered.
// It turns a file into a script.Script, or says everything that is wrong with it at once, each with its place. It does not
// know who serves the script, nor how.
package scriptfile

import (
	"encoding/json"
	"time"

	"tarsy.dev/tarsy/internal/mock/match"
	"tarsy.dev/tarsy/internal/mock/mcpserver"
)

// File is what a script file says. It does not change once it is read, so it may be shared.
type File struct {
	Version    int               `yaml:"version" doc:"The version of this format: 1." required:"true" min:"1" max:"1"`
	Isolate    string            `yaml:"isolate" doc:"How parallel tests are kept apart, each with the whole script to itself: not at all, by the header X-Tarsy-Lane, or by API key." enum:"none,header,key" default:"none"`
	Models     []string          `yaml:"models" doc:"The models that the server says it has." nonempty:"true"`
	Gates      []string          `yaml:"gates" doc:"The names of gates. Where it is given, replies may name no others." nonempty:"true"`
	Profile    *Profile          `yaml:"profile" doc:"How fast answers stream; without it, at once."`
	Faults     *Faults           `yaml:"faults" doc:"Faults that befall calls at random, in a way that repeats."`
	Replies    []Reply           `yaml:"replies" doc:"The sequence: taken in order by calls that no route takes."`
	Routes     []Route           `yaml:"routes" doc:"Replies for calls that fulfil conditions. The first route that fits and is not used up answers."`
	MCPServers mcpserver.Servers `yaml:"mcp_servers" doc:"Scripted MCP servers by name."`

	stamp stamp
}

// Profile is how fast an answer streams.
type Profile struct {
	TTFT   time.Duration `yaml:"ttft" doc:"Time to the first token." min:"0s"`
	TPS    float64       `yaml:"tps" doc:"Tokens per second; 0 is at once." min:"0"`
	Jitter float64       `yaml:"jitter" doc:"Makes each wait longer or shorter by up to this share of it." min:"0" max:"1"`
	Seed   uint64        `yaml:"seed" doc:"Varies the jitter. The same conversation with the same seed has the same waits."`
	Speed  float64       `yaml:"speed" doc:"Divides every wait: 2 is twice as fast." min:"0.001" default:"1"`
}

// Faults befall calls at random.
type Faults struct {
	Seed  uint64   `yaml:"seed" doc:"The same conversation with the same seed meets with the same faults."`
	Rate  float64  `yaml:"rate" doc:"The share of calls that fail." min:"0" max:"1"`
	Kinds []string `yaml:"kinds" doc:"What goes wrong; without it, any of them." enum:"drop,malformed,truncate,429,500"`
}

// Route is replies for some calls.
type Route struct {
	Name    string  `yaml:"name" doc:"What explanations call the route; without it, its conditions."`
	When    When    `yaml:"when" doc:"Conditions, all of which must hold; without any, the route takes every call."`
	Replies []Reply `yaml:"replies" doc:"What the calls are answered, in order." required:"true"`
}

// When are the conditions of a route.
type When struct {
	Agent      string          `yaml:"agent" doc:"Exactly the agent: the header X-Tarsy-Agent, or else NAME of a system text that begins with \"You are NAME,\"." nonempty:"true"`
	Purpose    string          `yaml:"purpose" doc:"Exactly what the call is for; calls over the wire do not say." nonempty:"true"`
	Model      *Text           `yaml:"model" doc:"The model that is asked."`
	System     *Text           `yaml:"system" doc:"All system texts, a line apart."`
	User       *Text           `yaml:"user" doc:"The last user message."`
	ToolResult *Text           `yaml:"tool_result" doc:"One of the tool results since the last assistant message."`
	Header     map[string]Text `yaml:"header" doc:"Headers of the HTTP request, by name."`
	Turn       *int            `yaml:"turn" doc:"How many assistant messages the conversation holds so far." min:"0"`
}

// Text is a condition on a text.
type Text = match.Text

// Reply is one answer.
type Reply struct {
	Thinking  string     `yaml:"thinking" doc:"What the model shows of its thinking."`
	Signature string     `yaml:"signature" doc:"What the provider wants back with the thinking."`
	Text      string     `yaml:"text" doc:"The answer, streamed word by word."`
	Chunks    []Chunk    `yaml:"chunks" doc:"The answer in exactly these pieces, instead of thinking, text and tool_calls."`
	ToolCalls []ToolCall `yaml:"tool_calls" doc:"The tools that the model wants to call."`
	Usage     *Usage     `yaml:"usage" doc:"Counts of tokens; without it they are estimated."`
	Stop      string     `yaml:"stop" doc:"Why the model stopped, if it is not the usual reason." enum:"end,tool_calls,max_tokens,stop_sequence"`
	Error     *Error     `yaml:"error" doc:"The provider's error instead of an answer, or in the middle of it."`
	Fault     *Fault     `yaml:"fault" doc:"What breaks on the way."`
	Hang      bool       `yaml:"hang" doc:"Says nothing, or nothing more after what the reply has, until the caller leaves."`
	Gate      *Gate      `yaml:"gate" doc:"Waits until the gate of this name is opened."`
	Profile   *Profile   `yaml:"profile" doc:"How fast this answer streams, instead of the file's profile."`
	Trickle   bool       `yaml:"trickle" doc:"Streams text and thinking a character at a time."`
	Times     Times      `yaml:"times" doc:"How many calls the reply answers: a number, or forever. Without it, one."`
}

// Chunk is one piece of an answer.
type Chunk struct {
	Text          string         `yaml:"text" doc:"A piece of the text." short:"true"`
	Thinking      *string        `yaml:"thinking" doc:"A piece of the thinking."`
	ToolCall      *ToolCall      `yaml:"tool_call" doc:"A tool that the model wants to call."`
	CodeExecution *CodeExecution `yaml:"code_execution" doc:"Code that the provider ran."`
	GoogleSearch  *GoogleSearch  `yaml:"google_search" doc:"What the provider searched for."`
	URLContext    *URLContext    `yaml:"url_context" doc:"What the provider fetched."`
}

// ToolCall is the model's wish to call a tool.
type ToolCall struct {
	Name      string          `yaml:"name" doc:"The tool." required:"true"`
	ID        string          `yaml:"id" doc:"The call's id; without it call_1, call_2 and so on."`
	Arguments json.RawMessage `yaml:"arguments" doc:"The arguments, or text that is sent as it is, JSON or not." kinds:"object,string"`
}

// CodeExecution is code that the provider ran, and what came out.
type CodeExecution struct {
	Code   string `yaml:"code" doc:"The code."`
	Result string `yaml:"result" doc:"What it printed."`
}

// GoogleSearch is what the provider searched for.
type GoogleSearch struct {
	Queries []string `yaml:"queries" doc:"What was searched for."`
	Sources []Source `yaml:"sources" doc:"What was found."`
}

// URLContext is what the provider fetched.
type URLContext struct {
	Sources []Source `yaml:"sources" doc:"What was fetched."`
}

// Source is a page that an answer rests on.
type Source struct {
	Title string `yaml:"title" doc:"The page's title."`
	URL   string `yaml:"url" doc:"The page's address." required:"true"`
}

// Usage counts tokens.
type Usage struct {
	Input    int `yaml:"input" doc:"Tokens of the request, cached ones included." min:"0"`
	Output   int `yaml:"output" doc:"Tokens of the answer, thinking not included." min:"0"`
	Thinking int `yaml:"thinking" doc:"Tokens of the thinking." min:"0"`
	Cached   int `yaml:"cached" doc:"Tokens of the request that were cached." min:"0"`
}

// Error is an error that a provider answers with.
type Error struct {
	Status      int           `yaml:"status" doc:"The status of the HTTP answer." min:"400" max:"599"`
	Code        string        `yaml:"code" doc:"The provider's own name for what went wrong."`
	Message     string        `yaml:"message" doc:"What the provider says." nonempty:"true"`
	RetryAfter  time.Duration `yaml:"retry_after" doc:"When to come back." min:"0s"`
	Class       string        `yaml:"class" doc:"What it means for the caller; without it, what the status means." enum:"auth,quota,context_too_long,safety,transient,invalid_request,unknown"`
	AfterChunks int           `yaml:"after_chunks" doc:"How many chunks come before it." min:"0"`
}

// Fault is something that breaks on the way.
type Fault struct {
	Kind        string `yaml:"kind" doc:"The connection is dropped, the answer makes no sense or is cut off, or an error is answered." enum:"drop,malformed,truncate,429,500" short:"true" required:"true"`
	AfterChunks int    `yaml:"after_chunks" doc:"How many chunks come before it." min:"0"`
}

// Gate is where an answer waits.
type Gate struct {
	Name        string `yaml:"name" doc:"The gate's name." short:"true" required:"true"`
	AfterChunks int    `yaml:"after_chunks" doc:"How many chunks come before it." min:"0"`
}
