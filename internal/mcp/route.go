package mcp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/nearest"
)

// callName is what a model may write: a server and a tool, joined by a dot or by two underscores.
var callName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,256}$`)

// maxSuggestions bounds how many tools a refusal lists.
const maxSuggestions = 40

// route finds the tool that a model means. A refusal is what the model is told instead; the tool is then filled as far
// as the name was understood.
func (t *toolset) route(name string) (*server, agent.Tool, string) {
	name = strings.TrimSpace(name)
	if !callName.MatchString(name) {
		return nil, agent.Tool{}, t.refuse(name, fmt.Sprintf(
			"%q is not the name of a tool: write server__tool, in letters, digits, '_', '-', '.' and '/'.", clean(short(name))))
	}
	var found *server
	understood := agent.Tool{}
	for _, split := range splits(name) {
		i := slices.IndexFunc(t.servers, func(s *server) bool { return s.id == split.Server })
		if i < 0 {
			continue
		}
		s := t.servers[i]
		if j := slices.IndexFunc(s.tools, func(tool agent.Tool) bool { return tool.Name == split.Name }); j >= 0 {
			return s, s.tools[j], ""
		}
		if found == nil {
			found, understood = s, split
		}
	}
	switch {
	case found == nil:
		return nil, understood, t.refuse(name, fmt.Sprintf("There is no tool %q: no such MCP server is available here.", short(name)))
	case found.failed != nil:
		return nil, understood, t.refuse(name, fmt.Sprintf("The MCP server %q is not available: %s",
			found.id, t.factory.received(found.id, found.failed.Error())))
	default:
		return nil, understood, t.refuse(name, fmt.Sprintf("The MCP server %q offers no tool %q here.",
			found.id, short(understood.Name)))
	}
}

// splits returns every way to read name as a server and a tool: both may contain the separators.
func splits(name string) []agent.Tool {
	var result []agent.Tool
	for i := range name {
		for _, separator := range []string{"__", "."} {
			server, found := name[:i], strings.HasPrefix(name[i:], separator)
			if tool := name[min(i+len(separator), len(name)):]; found && server != "" && tool != "" {
				result = append(result, agent.Tool{Server: server, Name: tool})
			}
		}
	}

	return result
}

// refuse adds to a reason what would have been right, nearest first.
func (t *toolset) refuse(name, reason string) string {
	wanted := strings.Replace(strings.ToLower(short(name)), ".", "__", 1)
	type candidate struct {
		name     string
		distance int
	}
	var candidates []candidate
	for _, tool := range t.all() {
		wire := tool.WireName()
		// A tool without its server is the most likely slip.
		near := min(nearest.Distance(wanted, strings.ToLower(wire)), nearest.Distance(wanted, strings.ToLower(tool.Name)))
		candidates = append(candidates, candidate{name: wire, distance: near})
	}
	if len(candidates) == 0 {
		return reason + "\nNo tools are available."
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })

	var text strings.Builder
	text.WriteString(reason + "\nAvailable tools, nearest first:")
	for i, c := range candidates {
		if i == maxSuggestions {
			fmt.Fprintf(&text, "\n… and %d more", len(candidates)-i)

			break
		}
		text.WriteString("\n- " + c.name)
	}

	return text.String()
}
