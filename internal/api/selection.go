package api

import (
	"strings"

	"tarsy.dev/tarsy"
)

// readSelection reads which MCP servers an alert asks for; nil means those of its chain.
func readSelection(alert object) (*tarsy.MCPSelection, error) {
	raw, ok := alert.get("mcp_selection")
	if !ok {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	o, err := parseObject("mcp_selection", raw, "servers", "native_tools")
	if err != nil {
		return nil, err
	}

	items, err := o.list("servers")
	if err != nil {
		return nil, err
	}

	// The provider's own tools are used where there are no others, so an alert may want no servers at all.
	_, native := o.get("native_tools")
	if len(items) == 0 && !native {
		return nil, o.missing("servers", "a list of at least one server; leave mcp_selection out to use those of the chain")
	}

	selection := &tarsy.MCPSelection{Servers: []tarsy.MCPServerSelection{}}
	seen := map[string]bool{}

	for _, item := range items {
		server, err := readServer(item)
		if err != nil {
			return nil, err
		}

		if seen[server.Name] {
			return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, item.path+".name", "the server %q is chosen twice", shown(server.Name))
		}

		seen[server.Name] = true
		selection.Servers = append(selection.Servers, server)
	}

	selection.NativeTools, err = readNativeTools(o)

	return selection, err
}

func readServer(i item) (tarsy.MCPServerSelection, error) {
	var server tarsy.MCPServerSelection

	o, err := parseObject(i.path, i.raw, "name", "tools")
	if err != nil {
		return server, err
	}

	server.Name, err = o.text("name")
	if err != nil {
		return server, err
	}

	if strings.TrimSpace(server.Name) == "" {
		return server, o.missing("name", "the name of an MCP server")
	}

	tools, err := o.list("tools")
	if err != nil {
		return server, err
	}

	for _, tool := range tools {
		name, err := tool.text()
		if err != nil {
			return server, err
		}

		server.Tools = append(server.Tools, name)
	}

	return server, nil
}

func readNativeTools(selection object) (*tarsy.NativeToolsSelection, error) {
	raw, ok := selection.get("native_tools")
	if !ok {
		return nil, nil //nolint:nilnil // not being there is an answer
	}

	o, err := parseObject(selection.at("native_tools"), raw, "google_search", "code_execution", "url_context")
	if err != nil {
		return nil, err
	}

	tools := &tarsy.NativeToolsSelection{}

	for name, target := range map[string]**bool{
		"google_search": &tools.GoogleSearch, "code_execution": &tools.CodeExecution, "url_context": &tools.URLContext,
	} {
		*target, err = o.flag(name)
		if err != nil {
			return nil, err
		}
	}

	return tools, nil
}
