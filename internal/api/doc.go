// Package api is the HTTP face of TARSy: the REST routes and their OpenAPI document, who may use them, and how errors
// look. The WebSocket and the event stream come from outside as handlers and are mounted behind the same guard.
//
// An operation is a row in the table of its resource (table_*.go): its route, the scope that it needs, what the audit log records, the errors
// that are its own, and its handler. Server finds the row of a request, checks what the row says, and calls the handler, a method of the type
// that has the resource: sessions, desk, alerts, notes, entities, account or system.
//
// Every answer that is not a success is an RFC 9457 problem with a stable code. The package does not know SQL, agents or chains: it calls the
// store and the services of notes, and takes as small interfaces what has more than one implementation, such as Intake.
//
// The library huma makes the OpenAPI document out of the types of inputs and outputs, puts the parts of a request into an input, and writes
// outputs. It validates nothing, because its errors are not ours: it sees parameters as text and no body at all. readParameters checks
// parameters and readRequest decodes bodies (both by the same types that huma documents), and what remains is checked by handlers and services.
// So limits of bodies such as maxLength are in the document for readers, and the code that enforces them is elsewhere.
package api
