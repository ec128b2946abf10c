package agent

import (
	"context"
	"encoding/json"

	"tarsy.dev/tarsy/internal/agent/react"
)

// Tools is what one execution may call. An instance belongs to one execution and is closed with it.
type Tools interface {
	// List returns the tools in a stable order. Servers that could not be reached are left out and reported by
	// Unavailable. A later call may return other tools; what a name means changes with it, and only then.
	List(ctx context.Context) ([]Tool, error)
	// Call makes one call. A failure of the tool itself is a Result; an error is infrastructure.
	Call(ctx context.Context, call Call) (Result, error)
	// Unavailable maps servers that could not be reached to the reason.
	Unavailable() map[string]string
	// Missing maps servers that were reached, but without tools that the execution was to have, to what is missing.
	Missing() map[string]string
	Close() error
}

// Tool is one tool of one MCP server.
type Tool struct {
	Server      string
	Name        string
	Description string
	Schema      json.RawMessage
	// ReadOnly is true only when the server says so; unknown means that the tool writes.
	ReadOnly bool
}

// WireName is the name that the model is given: providers allow no dot in it.
func (t Tool) WireName() string { return t.Server + "__" + t.Name }

// textName is the name that the model is given where tools are only written about.
func (t Tool) textName() string { return t.Server + "." + t.Name }

// listed are the tools as the text protocol lists them.
func listed(tools []Tool) []react.Tool {
	list := make([]react.Tool, 0, len(tools))
	for _, t := range tools {
		list = append(list, react.Tool{Name: t.textName(), Description: t.Description, Schema: t.Schema})
	}

	return list
}

// Resolve finds the tool that a model means by a name: the one whose name it is, to the letter. Only what it returns is judged by the
// configuration and called, so a name that means several tools, or is spelled in another way, means none.
func Resolve(tools []Tool, written string) (Tool, bool) {
	var found []Tool

	for _, t := range tools {
		if written == t.WireName() || written == t.textName() {
			found = append(found, t)
		}
	}

	if len(found) != 1 {
		return Tool{}, false
	}

	return found[0], true
}

// Call is one tool call. ID is the MCP interaction's id, which travels in `_meta`; Arguments is what the model wrote, or what a person
// approved.
type Call struct {
	ID string
	// Server and Tool are what is called, to the letter. They are empty if the name means no tool, which the result then explains.
	Server string
	Tool   string
	// Name is what the model wrote. It decides nothing.
	Name string
	// Shown are the names of the tools that the model is shown, of which a call without a tool is told the nearest.
	Shown     []string
	Arguments string
	// Once is set where the call must not be repeated, whatever the server says of the tool.
	Once bool
}

// Result is what a tool answered, masked and made of valid UTF-8.
type Result struct {
	Server  string
	Tool    string
	Content string
	IsError bool
	// Attempts is how often the call was made: a second time only on a fresh MCP session, and only if the tool reads.
	Attempts int
	// Unknown is set when the call was cut off after it may have taken effect.
	Unknown bool
}
