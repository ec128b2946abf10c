// Package eventschema describes every message that a reader can receive, over WebSocket or SSE, as one JSON Schema,
// and checks messages against it.
//
// The schema comes from the structs of the root package: their JSON names, types and tags. What a struct cannot say, which
// message has which payload and which timeline event which metadata, is in the tables Kinds and Timeline. The package does
// not know how messages are made, and nothing that sends them uses it.
package eventschema
