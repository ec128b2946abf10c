// Package discord is the branch of a Discord bot: it produces the messages that people write and sends drafts, whole or as a
// message that grows while a response streams in. [Client] is the connection itself, for programs without a flow.
//
// A client has its own addresses, so a test or another program can take the place of Discord. It uses disgo for the REST API
// and for the vocabulary of the gateway; the connection to the gateway is made here (docs/internals/decisions.md says why).
package discord
