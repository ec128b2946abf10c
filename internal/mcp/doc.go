// Package mcp provides the tools of an execution: it opens MCP sessions, routes the names that a model writes to them, and recovers
// broken sessions under the rule that a call which may have taken effect is never repeated. Independently of executions, a Monitor
// checks whether the servers respond.
//
// It must not know what a chain, a prompt or a database is, nor where configuration comes from: the app passes in servers, a masker and
// a clock. Everything a server sends is untrusted.
package mcp
