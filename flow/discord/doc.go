// Package discord provides a branch for a Discord bot: it produces the messages that people write and sends drafts, whole or as
// a message that grows while a response is streamed. [Client] is the connection itself, for programs without a flow.
//
// The addresses of a client are configurable, so a test or another program can replace Discord. The client uses disgo for the
// REST API and for the types of the gateway, but implements the gateway connection itself; docs/internals/decisions.md explains
// why.
package discord
