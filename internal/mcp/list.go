package mcp

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"tarsy.dev/tarsy/internal/agent"
)

// maxTools limits the tool list of one server, which could otherwise have endless pages.
const maxTools = 1000

var toolName = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

// toolList is the tool list of a server.
type toolList struct {
	// tools are the tools that the server's configuration allows, masked and ordered by name.
	tools []agent.Tool
	// uncallable are names that no model can call.
	uncallable []string
	// withheld is how many tools the server's configuration does not allow.
	withheld int
	// unmatched are the names in the server's configuration that match no tool.
	unmatched []string
}

// readTools reads the tool list for the first time, and logs what is omitted from it.
func (f *Factory) readTools(ctx context.Context, id string, client *mcpsdk.ClientSession) (toolList, error) {
	list, err := f.listTools(ctx, id, client)
	for _, name := range list.uncallable {
		f.logger.WarnContext(ctx, "skipping an mcp tool: its name cannot be called", "mcp_server", id, "tool", f.received(id, short(name)))
	}
	for _, name := range list.unmatched {
		f.logger.WarnContext(ctx, "allowed_tools or denied_tools names a tool that the mcp server does not list", "mcp_server", id, "tool", name)
	}

	return list, err
}

// listTools reads the whole tool list of a server. Tools that the server's configuration does not allow are dropped here, so that no
// later code sees them.
func (f *Factory) listTools(ctx context.Context, id string, client *mcpsdk.ClientSession) (toolList, error) {
	if caps := client.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return toolList{}, nil
	}
	var (
		list toolList
		all  []agent.Tool
	)
	for tool, err := range client.Tools(ctx, nil) {
		if err != nil {
			return toolList{uncallable: list.uncallable}, fmt.Errorf("list tools: %w", err)
		}
		if len(all)+len(list.uncallable) == maxTools {
			return toolList{}, fmt.Errorf("list tools: more than %d tools", maxTools)
		}
		if !toolName.MatchString(tool.Name) || f.received(id, tool.Name) != tool.Name {
			list.uncallable = append(list.uncallable, tool.Name)

			continue
		}
		all = append(all, agent.Tool{
			Server:      id,
			Name:        tool.Name,
			Description: f.received(id, tool.Description),
			Schema:      f.schemaOf(id, tool),
			ReadOnly:    tool.Annotations != nil && tool.Annotations.ReadOnlyHint,
		})
	}
	slices.SortStableFunc(all, func(a, b agent.Tool) int { return strings.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b agent.Tool) bool { return a.Name == b.Name })

	rule := f.cfg.Servers[id].Rule
	list.unmatched = unmatched(rule, all)
	list.tools = allowed(slices.Clone(all), rule)
	list.withheld = len(all) - len(list.tools)

	return list, nil
}

// allowed returns the tools that every rule allows. It modifies the given list.
func allowed(tools []agent.Tool, rules ...agent.ToolRule) []agent.Tool {
	return slices.DeleteFunc(tools, func(t agent.Tool) bool {
		return slices.ContainsFunc(rules, func(r agent.ToolRule) bool { return !r.Allows(t) })
	})
}

// unmatched returns the names of a rule that match no tool of the list.
func unmatched(rule agent.ToolRule, tools []agent.Tool) []string {
	return slices.DeleteFunc(slices.Concat(rule.Allowed, rule.Denied), func(pattern string) bool {
		return slices.ContainsFunc(tools, func(t agent.Tool) bool { return agent.MatchesTool(pattern, t.Name) })
	})
}
