package chain

import (
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm"
)

// Select is the agent with what an alert selected: its MCP servers replace the configured ones, and the native tools that
// it mentions are switched on or off, for the model and for its fallbacks. An agent of a single call has no tools to
// select.
func (a Agent) Select(selection *tarsy.MCPSelection) Agent {
	if selection == nil || a.Spec.Strategy == agent.Synthesis {
		return a
	}

	a.Servers = selection.Servers
	a.Spec.NativeTools = override(a.Spec.NativeTools, selection.NativeTools)
	a.Spec.Fallbacks = slices.Clone(a.Spec.Fallbacks)

	for i := range a.Spec.Fallbacks {
		a.Spec.Fallbacks[i].NativeTools = override(a.Spec.Fallbacks[i].NativeTools, selection.NativeTools)
	}

	return a
}

// override replaces the native tools that a selection mentions.
func override(tools llm.NativeTools, selected *tarsy.NativeToolsSelection) llm.NativeTools {
	if selected == nil {
		return tools
	}

	tools.GoogleSearch = orBelow(tools.GoogleSearch, selected.GoogleSearch)
	tools.CodeExecution = orBelow(tools.CodeExecution, selected.CodeExecution)
	tools.URLContext = orBelow(tools.URLContext, selected.URLContext)

	return tools
}
