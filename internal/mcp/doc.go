// Package mcp gives one execution its tools: it opens MCP sessions, routes the names a model writes to them, and
// recovers a broken session within the rule that a call which may have taken effect is never made twice. Apart from
// executions, a Monitor watches whether the servers answer.
//
// It must not know what a chain, a prompt or a database is, nor where configuration comes from: the app hands it
// servers, a masker and a clock. Whatever a server sends is hostile data.
package mcp
