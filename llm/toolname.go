package llm

import (
	"crypto/sha256"
	"encoding/hex"
)

// ToolNames maps the names of tools to ones that every provider takes, ^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$, and back. Names that
// already are such stay as they are.
type ToolNames struct {
	wire  map[string]string
	names map[string]string
}

// NewToolNames makes the mapping for one request: its tools, and the calls that its conversation holds.
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

// Wire is the name that the provider is given.
func (n ToolNames) Wire(name string) string {
	if wire, ok := n.wire[name]; ok {
		return wire
	}

	return wireName(name)
}

// Name is the tool that the provider means; a name that was never given to it stays what it is.
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

	// A tool may be called just what another's name becomes.
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

// hashedName is the name with a hash of salted, because two names must not become one.
func hashedName(name, salted string) string {
	sum := sha256.Sum256([]byte(salted))
	clean := cleanName(name)

	return clean[:min(len(clean), maxToolName-nameHashSize-1)] + "_" + hex.EncodeToString(sum[:])[:nameHashSize]
}

// cleanName is the name with an underscore for each byte that not every provider takes there.
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
