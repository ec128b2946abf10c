// Package eventschema describes every message that a client can receive, over WebSocket or SSE, as one JSON Schema, and
// validates messages against it.
//
// The schema is derived from the structs of the root package: their JSON names, types and tags. What a struct cannot express,
// namely which message has which payload and which timeline event has which metadata, is in the tables Kinds and Timeline. The
// package does not know how messages are created, and no sender uses it.
package eventschema
