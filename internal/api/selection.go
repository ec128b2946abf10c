package api

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
)

// checkSelections checks the selection of a request that accepts it under two names.
func checkSelections(selection, alias *tarsy.MCPSelection) error {
	if selection != nil && alias != nil {
		return tarsy.FieldErrorf(tarsy.CodeInvalidField, "mcp", "mcp and mcp_selection are the same: send one of them")
	}

	if alias != nil {
		return checkSelection("mcp", alias)
	}

	return checkSelection("mcp_selection", selection)
}

// checkSelection checks the MCP servers that an alert selects in a field; nil selects those of its chain. Intake checks that they
// exist.
func checkSelection(field string, selection *tarsy.MCPSelection) error {
	servers := field + ".servers"

	if selection == nil {
		return nil
	}

	// The provider's own tools are used where there are no others, so an alert may select no servers at all.
	if len(selection.Servers) == 0 && selection.NativeTools == nil {
		return missing(servers, "a list of at least one server; leave "+field+" out to use those of the chain")
	}

	if selection.Servers == nil {
		selection.Servers = []tarsy.MCPServerSelection{}
	}

	seen := map[string]bool{}

	for i, server := range selection.Servers {
		path := fmt.Sprintf("%s[%d].name", servers, i)

		if strings.TrimSpace(server.Name) == "" {
			return missing(path, "the name of an MCP server")
		}

		if seen[server.Name] {
			return tarsy.FieldErrorf(tarsy.CodeInvalidField, path, "the server %q is chosen twice", shown(server.Name))
		}

		seen[server.Name] = true
	}

	return nil
}
