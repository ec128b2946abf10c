package llm

import (
	"crypto/sha256"
	"encoding/hex"
)

// ToolNames maps the names of tools to names that every provider accepts, ^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$, and back. Names that
// already match are unchanged.
type ToolNames struct {
	wire  map[string]string
	names map[string]string
}

// NewToolNames returns the mapping for one request: its tools, and the calls in its conversation.
func NewToolNames(req *Request) ToolNames {
	n := ToolNames{wire: map[string]string{}, names: map[string]string{}}

	for _, tool := range req.Tools {
		n.add(tool.Name)
	}

	for _, message := range req.Messages {
		for _, call := range message.ToolCalls {
			n.add(call.Name)
		}

		if message.ToolName != "" {
			n.add(message.ToolName)
		}
	}

	return n
}

// Wire returns the name that is sent to the provider.
func (n ToolNames) Wire(name string) string {
	if wire, ok := n.wire[name]; ok {
		return wire
	}

	return wireName(name)
}

// Name returns the tool that the provider means; a name that was never sent to it is returned unchanged.
func (n ToolNames) Name(wire string) string {
	if name, ok := n.names[wire]; ok {
		return name
	}

	return wire
}

func (n ToolNames) add(name string) {
	if _, ok := n.wire[name]; ok {
		return
	}

	// A tool can have the very name that another tool's name is mapped to.
	wire := wireName(name)
	for salted := name; n.taken(wire); wire = hashedName(name, salted) {
		salted += "\x00"
	}

	n.wire[name], n.names[wire] = wire, name
}

func (n ToolNames) taken(wire string) bool {
	_, ok := n.names[wire]

	return ok
}

const (
	maxToolName  = 64
	nameHashSize = 8
)

func wireName(name string) string {
	if cleanName(name) == name && len(name) <= maxToolName && name != "" {
		return name
	}

	return hashedName(name, name)
}

// hashedName returns the name with a hash of salted, because different names must stay different.
func hashedName(name, salted string) string {
	sum := sha256.Sum256([]byte(salted))
	clean := cleanName(name)

	return clean[:min(len(clean), maxToolName-nameHashSize-1)] + "_" + hex.EncodeToString(sum[:])[:nameHashSize]
}

// cleanName returns the name with an underscore for each byte that some provider rejects at its place.
func cleanName(name string) string {
	clean := []byte(name)

	for i, c := range clean {
		letter := c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
		other := c == '-' || (c >= '0' && c <= '9')

		if !letter && (!other || i == 0) {
			clean[i] = '_'
		}
	}

	return string(clean)
}
