package agent

import (
	"context"
	"encoding/json"

	"tarsy.dev/tarsy/internal/agent/react"
)

// Tools are the tools that one execution can call. An instance belongs to one execution and is closed with it.
type Tools interface {
	// List returns the tools in a stable order. Unreachable servers are omitted and reported by Unavailable. A later call can return
	// other tools; only then can the meaning of a name change.
	List(ctx context.Context) ([]Tool, error)
	// Call makes one call. A failure of the tool itself is a Result; an error is a failure of the infrastructure.
	Call(ctx context.Context, call Call) (Result, error)
	// Unavailable maps servers that could not be reached to the reason.
	Unavailable() map[string]string
	// Missing maps servers that were reached, but lack tools that the execution should have, to what is missing.
	Missing() map[string]string
	Close() error
}

// Tool is a tool of an MCP server.
type Tool struct {
	Server      string
	Name        string
	Description string
	Schema      json.RawMessage
	// ReadOnly is true only if the server marks the tool as read-only; any other tool is assumed to write.
	ReadOnly bool
}

// WireName is the tool's name as a function of the model: providers allow no dot in it.
func (t Tool) WireName() string { return t.Server + "__" + t.Name }

// textName is the tool's name in the text protocol.
func (t Tool) textName() string { return t.Server + "." + t.Name }

// listed converts tools for the text protocol.
func listed(tools []Tool) []react.Tool {
	list := make([]react.Tool, 0, len(tools))
	for _, t := range tools {
		list = append(list, react.Tool{Name: t.textName(), Description: t.Description, Schema: t.Schema})
	}

	return list
}

// Resolve finds the tool with exactly the name that a model wrote. A name that matches several tools, or is spelled differently,
// matches none, because only the tool that it returns is checked against the policies and called.
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

// Call is one tool call. ID is the MCP interaction's id, which is sent in `_meta`; Arguments is what the model wrote, or what a person
// approved.
type Call struct {
	ID string
	// Server and Tool are the exact names to call. They are empty if the name matches no tool; the result then explains that.
	Server string
	Tool   string
	// Name is what the model wrote. It has no effect on what is called.
	Name string
	// Shown are the names of the tools that the model sees; for a call without a tool, the result suggests the nearest.
	Shown     []string
	Arguments string
	// Once means that the call must not be repeated, whatever the server says about the tool.
	Once bool
}

// Result is a tool's answer, masked and in valid UTF-8.
type Result struct {
	Server  string
	Tool    string
	Content string
	IsError bool
	// Attempts is how often the call was made: a second time only on a new MCP session, and only if the tool is read-only.
	Attempts int
	// Unknown is set if the call was interrupted after it may have taken effect.
	Unknown bool
}
