// Package scriptfile reads the YAML files that script a virtual model: which calls there are, and how each is answered. It
// converts a file to a script.Script, or reports all its problems at once, each with its position. It does not know who
// serves the script, or how.
package scriptfile

import (
	"encoding/json"
	"time"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
	"tarsy.dev/tarsy/internal/kit/mock/match"
	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
)

// File is the content of a script file. It does not change after it is read, so it can be shared.
type File struct {
	Version    int               `yaml:"version" doc:"The version of this format: 1." required:"true" min:"1" max:"1"`
	Isolate    string            `yaml:"isolate" doc:"How parallel tests are isolated, each with its own copy of the script: not at all, by the header X-Tarsy-Lane, or by API key." enum:"none,header,key" default:"none"`
	Models     []string          `yaml:"models" doc:"The models that the server lists." nonempty:"true"`
	Gates      []string          `yaml:"gates" doc:"The names of gates. If given, replies cannot use other names." nonempty:"true"`
	Profile    *Profile          `yaml:"profile" doc:"How fast replies stream; by default without delay."`
	Faults     *Faults           `yaml:"faults" doc:"Random but repeatable faults."`
	Replies    []Reply           `yaml:"replies" doc:"The sequence: replies, in order, to the calls that match no route."`
	Routes     []Route           `yaml:"routes" doc:"Replies for calls that match conditions. The first route that matches and is not used up is used."`
	MCPServers mcpserver.Servers `yaml:"mcp_servers" doc:"Scripted MCP servers by name."`
	Discord    *discord.Setup    `yaml:"discord" doc:"A virtual Discord: its users and guilds, and a conversation."`

	stamp stamp
}

// Profile is the speed at which an answer streams.
type Profile struct {
	TTFT   time.Duration `yaml:"ttft" doc:"Time to the first token." min:"0s"`
	TPS    float64       `yaml:"tps" doc:"Tokens per second; 0 means without delay." min:"0"`
	Jitter float64       `yaml:"jitter" doc:"Lengthens or shortens each delay by up to this fraction." min:"0" max:"1"`
	Seed   uint64        `yaml:"seed" doc:"Seed of the jitter. The same conversation with the same seed has the same delays."`
	Speed  float64       `yaml:"speed" doc:"Divides every delay: 2 is twice as fast." min:"0.001" default:"1"`
}

// Faults make calls fail at random.
type Faults struct {
	Seed  uint64   `yaml:"seed" doc:"The same conversation with the same seed gets the same faults."`
	Rate  float64  `yaml:"rate" doc:"The fraction of calls that fail." min:"0" max:"1"`
	Kinds []string `yaml:"kinds" doc:"The kinds of faults; by default all of them." enum:"drop,malformed,truncate,429,500"`
}

// Route has the replies for some calls.
type Route struct {
	Name    string  `yaml:"name" doc:"The name of the route in errors and in the journal; by default its conditions."`
	When    When    `yaml:"when" doc:"Conditions, all of which must match; without any, the route matches every call."`
	Replies []Reply `yaml:"replies" doc:"The replies, in order." required:"true"`
}

// When are the conditions of a route.
type When struct {
	Agent      string          `yaml:"agent" doc:"The agent, exactly: the header X-Tarsy-Agent, or NAME of a system text that begins with \"You are NAME,\"." nonempty:"true"`
	Purpose    string          `yaml:"purpose" doc:"The purpose of the call, exactly; only in-process calls have one." nonempty:"true"`
	Model      *Text           `yaml:"model" doc:"The requested model."`
	System     *Text           `yaml:"system" doc:"All system texts, joined by newlines."`
	User       *Text           `yaml:"user" doc:"The last user message."`
	ToolResult *Text           `yaml:"tool_result" doc:"Any of the tool results since the last assistant message."`
	Header     map[string]Text `yaml:"header" doc:"Headers of the HTTP request, by name."`
	Turn       *int            `yaml:"turn" doc:"The number of assistant messages so far." min:"0"`
}

// Text is a condition on a text.
type Text = match.Text

// Reply is one answer.
type Reply struct {
	Thinking  string     `yaml:"thinking" doc:"The thinking that the model returns."`
	Signature string     `yaml:"signature" doc:"The signature that the provider expects back with the thinking."`
	Text      string     `yaml:"text" doc:"The reply, streamed word by word."`
	Chunks    []Chunk    `yaml:"chunks" doc:"The reply in exactly these pieces, instead of thinking, text and tool_calls."`
	ToolCalls []ToolCall `yaml:"tool_calls" doc:"The tool calls of the model."`
	Usage     *Usage     `yaml:"usage" doc:"Token counts; by default they are estimated."`
	Stop      string     `yaml:"stop" doc:"Why the model stopped, if not the usual reason." enum:"end,tool_calls,max_tokens,stop_sequence"`
	Error     *Error     `yaml:"error" doc:"A provider error instead of the reply, or in the middle of it."`
	Fault     *Fault     `yaml:"fault" doc:"A transport failure."`
	Hang      bool       `yaml:"hang" doc:"Sends the rest of the reply, then nothing until the caller disconnects."`
	Gate      *Gate      `yaml:"gate" doc:"Waits until this gate is opened."`
	Profile   *Profile   `yaml:"profile" doc:"How fast this reply streams, instead of the file's profile."`
	Trickle   bool       `yaml:"trickle" doc:"Streams text and thinking one character at a time."`
	Times     Times      `yaml:"times" doc:"How many calls the reply answers: a number, or forever. The default is one."`
}

// Chunk is one piece of an answer.
type Chunk struct {
	Text          string         `yaml:"text" doc:"A piece of the text." short:"true"`
	Thinking      *string        `yaml:"thinking" doc:"A piece of the thinking."`
	ToolCall      *ToolCall      `yaml:"tool_call" doc:"A tool call of the model."`
	CodeExecution *CodeExecution `yaml:"code_execution" doc:"Code that the provider ran."`
	GoogleSearch  *GoogleSearch  `yaml:"google_search" doc:"A search by the provider."`
	URLContext    *URLContext    `yaml:"url_context" doc:"Pages that the provider fetched."`
}

// ToolCall is the model's request to call a tool.
type ToolCall struct {
	Name      string          `yaml:"name" doc:"The tool." required:"true"`
	ID        string          `yaml:"id" doc:"The ID of the call; by default call_1, call_2 and so on."`
	Arguments json.RawMessage `yaml:"arguments" doc:"The arguments, or text that is sent unchanged, JSON or not." kinds:"object,string"`
}

// CodeExecution is code that the provider ran, and its output.
type CodeExecution struct {
	Code   string `yaml:"code" doc:"The code."`
	Result string `yaml:"result" doc:"The output."`
}

// GoogleSearch is a search by the provider.
type GoogleSearch struct {
	Queries []string `yaml:"queries" doc:"The search queries."`
	Sources []Source `yaml:"sources" doc:"The pages found."`
}

// URLContext is the pages that the provider fetched.
type URLContext struct {
	Sources []Source `yaml:"sources" doc:"The pages fetched."`
}

// Source is a page that an answer is based on.
type Source struct {
	Title string `yaml:"title" doc:"The title of the page."`
	URL   string `yaml:"url" doc:"The URL of the page." required:"true"`
}

// Usage counts tokens.
type Usage struct {
	Input    int `yaml:"input" doc:"Tokens of the request, including cached tokens." min:"0"`
	Output   int `yaml:"output" doc:"Tokens of the reply, without thinking." min:"0"`
	Thinking int `yaml:"thinking" doc:"Tokens of the thinking." min:"0"`
	Cached   int `yaml:"cached" doc:"Tokens of the request that were cached." min:"0"`
}

// Error is an error response of a provider.
type Error struct {
	Status      int           `yaml:"status" doc:"The HTTP status." min:"400" max:"599"`
	Code        string        `yaml:"code" doc:"The provider's error code."`
	Message     string        `yaml:"message" doc:"The provider's error message." nonempty:"true"`
	RetryAfter  time.Duration `yaml:"retry_after" doc:"The value of Retry-After." min:"0s"`
	Class       string        `yaml:"class" doc:"The error class; by default it follows from the status." enum:"auth,quota,context_too_long,safety,transient,invalid_request,unknown"`
	AfterChunks int           `yaml:"after_chunks" doc:"The number of chunks before it." min:"0"`
}

// Fault is a failure of the connection or the response.
type Fault struct {
	Kind        string `yaml:"kind" doc:"The connection is dropped, the response is malformed or truncated, or the response is an error." enum:"drop,malformed,truncate,429,500" short:"true" required:"true"`
	AfterChunks int    `yaml:"after_chunks" doc:"The number of chunks before it." min:"0"`
}

// Gate is where an answer waits.
type Gate struct {
	Name        string `yaml:"name" doc:"The gate's name." short:"true" required:"true"`
	AfterChunks int    `yaml:"after_chunks" doc:"The number of chunks before it." min:"0"`
}
