// Package chain resolves the configured chains into what the engine runs: all levels of configuration are merged, and each
// agent has its model, its instructions and its MCP servers. It also decides which chain handles an alert and whether an
// alert's MCP selection is valid.
//
// It knows the configuration and the definition of an agent, but not the database, HTTP or how agents run.
package chain
