// Package mcpserver is TARSy's own MCP server: tools with which other AI programs submit alerts, read sessions and ask about them.
//
// There is one implementation of the tools, on the HTTP client of the public API. On stdio (tarsy mcp) the client reaches a server over the
// network; at /mcp it calls the handler of the same process with the credentials of the caller. So the scopes of the caller, limits and
// masking are those of the routes, and the package knows neither keys nor the database.
//
// Whatever comes from sessions is untrusted: results mark it as data, drop invisible characters and have a maximum size.
package mcpserver
