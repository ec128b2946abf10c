// Package tarsy is the vocabulary of TARSy: what an alert, a session, a stage, an execution, a timeline event, a message, an interaction
// and a journal event are, which states they go through, and which errors users see.
//
// It reads as the specification of the product. It does no I/O, declares no interfaces, and imports no other package of this module except
// internal/plaintext. The JSON names of its types are also the names of the database columns and of the REST API, so that everything has
// the same name everywhere.
package tarsy
