// Package tarsy is the vocabulary of TARSy: what an alert, a session, a stage, an execution, a timeline event,
// a message, an interaction and a journal event are, which states they go through, and which errors people meet.
//
// It reads as the specification of the product. It does no I/O, declares no interfaces and imports nothing of ours.
// The JSON names of its types are the names of the database columns and of the REST API, so a thing is called the
// same wherever it is met.
package tarsy
