// Package mcpserver runs scripted MCP servers: tools with schemas whose results, errors, delays and faults are defined in a
// file. They are available over streamable HTTP or standard streams, and keep a journal of their calls. The package knows
// nothing about models and sessions, or where the script comes from. A call that the script does not cover is answered with
// an error that says so, never with a default.
package mcpserver

import "time"

// Servers are scripted MCP servers by name: the mcp_servers section of a script.
type Servers map[string]Server

// Server is one scripted MCP server.
type Server struct {
	Version      string `yaml:"version" doc:"The version that the server reports."`
	Instructions string `yaml:"instructions" doc:"The instructions that the server sends to its clients."`
	Tools        []Tool `yaml:"tools" doc:"The tools of the server."`
}

// Tool is one tool of a server.
type Tool struct {
	Name        string `yaml:"name" doc:"The name of the tool: letters, digits, _, - and ." required:"true"`
	Description string `yaml:"description" doc:"What the tool does, for the model."`
	ReadOnly    bool   `yaml:"read_only" doc:"Declares the tool read-only."`
	// Schema is checked before a result is selected, as in real servers.
	Schema  map[string]any `yaml:"schema" doc:"JSON Schema of the arguments, of type object; by default any arguments are accepted."`
	Results []Result       `yaml:"results" doc:"The results of the tool: the first one that matches and is not used up is returned."`
}

// Result is one scripted answer of a tool: exactly one of Text, JSON, Error and Fault.
type Result struct {
	// When maps the paths of arguments to conditions; see docs/mcp-mock.md.
	When  map[string]any `yaml:"when" doc:"Conditions on arguments, all of which must match: a value, or {equals, contains, matches, exists}. Nested arguments are written with dots."`
	Text  *string        `yaml:"text" doc:"A text, with the arguments in {{.name}}."`
	JSON  any            `yaml:"json" doc:"A value, sent as JSON text and, if it is an object, as structured content."`
	Error *string        `yaml:"error" doc:"The message of a tool error, with the arguments in {{.name}}."`
	Fault Fault          `yaml:"fault" doc:"A failure instead of a result." enum:"drop,hang,malformed,protocol_error"`
	Delay time.Duration  `yaml:"delay" doc:"The delay before the result or the fault."`
	Times int            `yaml:"times" doc:"How often the result can be used; by default without limit."`
}

// Fault is a failure of a call.
type Fault string

// The faults.
const (
	// FaultDrop closes the connection without an answer.
	FaultDrop Fault = "drop"
	// FaultHang never answers.
	FaultHang Fault = "hang"
	// FaultMalformed answers with something that is not a message.
	FaultMalformed Fault = "malformed"
	// FaultProtocolError answers with a protocol error, as opposed to a tool error.
	FaultProtocolError Fault = "protocol_error"
)
