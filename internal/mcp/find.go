package mcp

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
)

// callName matches names of tools: a server and a tool, joined by a dot or by two underscores.
var callName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,256}$`)

// maxSuggestions limits how many tools a refusal lists.
const maxSuggestions = 40

// find returns a tool and its server; nil if there is no such tool.
func (t *toolset) find(serverID, toolName string) (*server, agent.Tool) {
	for _, s := range t.servers {
		if s.id != serverID {
			continue
		}
		tools, _ := s.kept()
		if i := slices.IndexFunc(tools, func(tool agent.Tool) bool { return tool.Name == toolName }); i >= 0 {
			return s, tools[i]
		}
	}

	return nil, agent.Tool{}
}

// refusal explains to a model why the name that it wrote matches no tool. What is parsed from the name here is never called.
func (t *toolset) refusal(name string, shown []string) agent.Result {
	result := agent.Result{IsError: true}
	if !callName.MatchString(name) {
		result.Content = t.suggest(name, shown, fmt.Sprintf(
			"%+q is not the name of a tool: write server__tool, in letters, digits, '_', '-', '.' and '/', exactly as it is listed.", plaintext.Cut(name, shortBytes)))

		return result
	}
	for _, s := range t.servers {
		tool, found := afterServer(name, s.id)
		if !found {
			continue
		}
		result.Server, result.Tool = s.id, tool
		reason := fmt.Sprintf("The MCP server %q offers no tool %q here.", s.id, short(tool))
		if s.failed != nil {
			reason = fmt.Sprintf("The MCP server %q is not available: %s", s.id, t.factory.received(s.id, s.failed.Error()))
		}
		result.Content = t.suggest(name, shown, reason)

		return result
	}
	result.Content = t.suggest(name, shown, fmt.Sprintf("There is no tool %q: no such MCP server is available here.", short(name)))

	return result
}

// afterServer returns what follows a server and a separator in a name.
func afterServer(name, serverID string) (string, bool) {
	rest, found := strings.CutPrefix(name, serverID)
	for _, separator := range []string{"__", "."} {
		if tool, separated := strings.CutPrefix(rest, separator); found && separated && tool != "" {
			return tool, true
		}
	}

	return "", false
}

// suggest appends the nearest tools to a reason: only tools that are shown to the model, since others are never called.
func (t *toolset) suggest(name string, shown []string, reason string) string {
	wanted := strings.Replace(strings.ToLower(short(name)), ".", "__", 1)
	type candidate struct {
		name     string
		distance int
	}
	var candidates []candidate
	for _, tool := range t.all() {
		wire := tool.WireName()
		if !slices.Contains(shown, wire) {
			continue
		}
		// A tool without its server is the most likely mistake.
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
