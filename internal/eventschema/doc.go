// Package eventschema describes every message that a reader can receive, over WebSocket or SSE, as one JSON Schema,
// and checks messages against it.
//
// The payloads of events are inferred from their Go structs, so that a field cannot be forgotten; what a struct does
// not say (what a field means, which values it takes) is written here. The package does not know how messages come
// to be, and nothing that sends them asks it.
package eventschema
