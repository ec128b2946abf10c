// Package approval takes what people decide about tool calls that wait for an approval. It checks and masks what they write; the rows are in
// internal/postgres, and the holder of the session applies the decision. It knows nothing of how people send it: the API, the command
// line and Discord all use a Desk.
package approval
