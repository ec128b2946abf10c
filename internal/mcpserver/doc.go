// Package mcpserver is TARSy's own MCP server: tools for other AI programs to submit alerts, read sessions and ask about them.
//
// The tools have a single implementation, on top of the HTTP client of the public API. On stdio (tarsy mcp) the client reaches
// a server over the network; at /mcp it calls the handler of the same process with the caller's credentials. So the caller's
// scopes, limits and masking are those of the routes, and the package knows neither keys nor the database.
//
// Content of sessions is untrusted: results mark it as data, drop invisible characters and have a maximum size.
package mcpserver
