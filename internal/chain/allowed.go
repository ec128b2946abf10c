package chain

import (
	"fmt"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/llm"
)

// Offered holds the tools that each server last listed, by server. A server that has not listed its tools yet has no entry.
type Offered map[string][]agent.Tool

// Tools is the union of what the agents of a chain may use: everything that an alert can select from.
type Tools struct {
	AlertType string
	ChainID   string
	// Servers are MCP servers with the names of their tools, in stage order, then those of the chat.
	Servers     []ServerTools
	NativeTools llm.NativeTools
}

// ServerTools are the tools of one server that at least one agent may use.
type ServerTools struct {
	Name string
	// Tools is empty if Known is false: the server has not listed its tools yet.
	Tools []string
	Known bool
}

// AllowedTools returns what a chain allows: the chain with this ID or, if that is empty, the chain for the alert type. Alerts
// without a selection get all of it.
func (c *Catalog) AllowedTools(chainID, alertType string, offered Offered) (Tools, error) {
	chain, alertType, err := c.forAlert(tarsy.Alert{AlertType: alertType, ChainID: chainID, ChainRequired: chainID != ""})
	if err != nil {
		return Tools{}, err
	}

	tools := Tools{AlertType: alertType, ChainID: chain.ID, NativeTools: chain.nativeTools()}

	for _, id := range chain.servers() {
		server := ServerTools{Name: id}

		var listed []agent.Tool
		listed, server.Known = offered[id]

		for _, t := range listed {
			if chain.allows(t) {
				server.Tools = append(server.Tools, t.Name)
			}
		}

		tools.Servers = append(tools.Servers, server)
	}

	return tools, nil
}

// Servers returns the MCP servers that at least one agent of the chain may use.
func (c Chain) Servers() []string { return c.servers() }

// servers returns the MCP servers that at least one agent of the chain may use, in stage order, then those of the chat.
func (c Chain) servers() []string {
	var ids []string

	for a := range c.agents() {
		for _, s := range a.Servers {
			if a.hasTools() && !slices.Contains(ids, s.Name) {
				ids = append(ids, s.Name)
			}
		}
	}

	return ids
}

// nativeTools returns the native tools that at least one agent of the chain has.
func (c Chain) nativeTools() llm.NativeTools {
	var sum llm.NativeTools

	add := func(tools llm.NativeTools) {
		sum.GoogleSearch = sum.GoogleSearch || tools.GoogleSearch
		sum.CodeExecution = sum.CodeExecution || tools.CodeExecution
		sum.URLContext = sum.URLContext || tools.URLContext
	}

	for a := range c.agents() {
		if !a.hasTools() {
			continue
		}

		add(a.Spec.NativeTools)

		for _, f := range a.Spec.Fallbacks {
			add(f.NativeTools)
		}
	}

	return sum
}

// allows reports whether at least one agent of the chain may use a tool.
func (c Chain) allows(t agent.Tool) bool {
	return c.grants(t.Server, func(r agent.ToolRule) bool { return r.Allows(t) })
}

// grants reports whether at least one agent has the server and all of its rules pass.
func (c Chain) grants(server string, passes func(agent.ToolRule) bool) bool {
	for a := range c.agents() {
		has := slices.ContainsFunc(a.Servers, func(s tarsy.MCPServerSelection) bool { return s.Name == server })
		if has && a.hasTools() && !slices.ContainsFunc(a.ToolRules, func(r agent.ToolRule) bool { return !passes(r) }) {
			return true
		}
	}

	return false
}

// checkSelection rejects a selection of anything that the chain does not allow.
func (c *Catalog) checkSelection(chain Chain, selection *tarsy.MCPSelection, offered Offered) error {
	if selection == nil {
		return nil
	}

	servers := chain.servers()

	for i, s := range selection.Servers {
		if !slices.Contains(servers, s.Name) {
			return c.refuseServer(chain, s.Name, servers)
		}

		for j, tool := range s.Tools {
			if err := c.checkTool(chain, s.Name, tool, offered); err != nil {
				err.Field = fmt.Sprintf("mcp_selection.servers[%d].tools[%d]", i, j)

				return err
			}
		}
	}

	return checkNative(chain, selection.NativeTools)
}

func (c *Catalog) refuseServer(chain Chain, name string, allowed []string) error {
	code, what := tarsy.CodeMCPServerNotAllowed, fmt.Sprintf("the chain %q does not allow the MCP server %q", chain.ID, plaintext.Clean(name))
	if _, configured := c.servers[name]; !configured {
		code, what = tarsy.CodeUnknownMCPServer, fmt.Sprintf("there is no MCP server %q", plaintext.Clean(name))
	}

	hint := "its agents use no MCP servers"
	if len(allowed) > 0 {
		hint = nearest.HintWithList(name, allowed, "MCP servers of the chain")
	}

	return tarsy.FieldErrorf(code, "mcp_selection.servers", "%s; %s", what, hint)
}

// checkTool rejects a tool that the server does not list, or that no agent may use. For a server that has not listed its tools
// yet, only the configured names are checked; a missing tool is then reported when the agent runs.
func (c *Catalog) checkTool(chain Chain, server, name string, offered Offered) *tarsy.Error {
	listed, known := offered[server]

	if !known {
		ok := c.rules[server].AllowsName(server, name) && chain.grants(server, func(r agent.ToolRule) bool { return r.AllowsName(server, name) })
		if ok {
			return nil
		}

		return tarsy.Errorf(tarsy.CodeToolNotAllowed, "the chain %q does not allow the tool %q of the MCP server %q",
			chain.ID, plaintext.Clean(name), server)
	}

	var names []string

	exists := false

	for _, t := range listed {
		exists = exists || t.Name == name

		if chain.allows(t) {
			names = append(names, t.Name)
		}
	}

	if slices.Contains(names, name) {
		return nil
	}

	code, what := tarsy.CodeUnknownTool, fmt.Sprintf("the MCP server %q offers no tool %q", server, plaintext.Clean(name))
	if exists || !c.rules[server].AllowsName(server, name) {
		code, what = tarsy.CodeToolNotAllowed, fmt.Sprintf("the chain %q does not allow the tool %q of the MCP server %q", chain.ID, plaintext.Clean(name), server)
	}

	hint := "it allows none of that server's tools"
	if len(names) > 0 {
		hint = nearest.HintWithList(name, names, "tools of the chain")
	}

	return tarsy.Errorf(code, "%s; %s", what, hint)
}

// checkNative rejects enabling a native tool that the chain has disabled.
func checkNative(chain Chain, selected *tarsy.NativeToolsSelection) error {
	if selected == nil {
		return nil
	}

	allowed := chain.nativeTools()

	for _, t := range []struct {
		name     string
		selected *bool
		allowed  bool
	}{
		{"google_search", selected.GoogleSearch, allowed.GoogleSearch},
		{"code_execution", selected.CodeExecution, allowed.CodeExecution},
		{"url_context", selected.URLContext, allowed.URLContext},
	} {
		if t.selected != nil && *t.selected && !t.allowed {
			return tarsy.FieldErrorf(tarsy.CodeToolNotAllowed, "mcp_selection.native_tools."+t.name,
				"the chain %q has %s off: an alert can only switch native tools off", chain.ID, t.name)
		}
	}

	return nil
}

// ServerRule returns the tool rule in a server's configuration.
func ServerRule(s config.MCPServer) agent.ToolRule {
	return agent.ToolRule{Allowed: s.AllowedTools, Denied: s.DeniedTools, ReadOnly: s.ReadOnly}
}
