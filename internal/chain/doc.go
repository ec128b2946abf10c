// Package chain turns the configured chains into what the engine follows: every level of configuration is merged, and
// each agent has its model, its instructions and its MCP servers. It also decides which chain takes an alert and whether
// an alert's MCP selection is valid.
//
// It knows configuration and what an agent is. It does not know the database, HTTP or how agents run.
package chain
