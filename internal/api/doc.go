// Package api is the HTTP interface of TARSy: the REST routes and their OpenAPI document, who can call them, and the format of errors.
// The WebSocket and the event stream are passed in as handlers and are mounted behind the same guard.
//
// An operation is a row in the table of its resource (table_*.go): its route, the scope that it requires, what the audit log records,
// its specific errors, and its handler. Server finds the row of a request, checks what the row requires, and calls the handler, a
// method of the type that owns the resource: sessions, desk, alerts, notes, entities, account or system.
//
// Every unsuccessful response is an RFC 9457 problem with a stable code. The package knows nothing of SQL, agents or chains: it calls
// the store and the services of notes, and takes small interfaces where there is more than one implementation, such as Intake.
//
// The huma library generates the OpenAPI document from the types of inputs and outputs, parses requests into inputs, and writes
// outputs. It validates nothing, because its errors differ from ours: it sees parameters as text and no body at all. readParameters
// checks parameters and readRequest decodes bodies (both using the types that huma documents); handlers and services check the rest.
// TestEveryDocumentedLimitOfABodyIsEnforced sends a request against every limit of a body in the document.
package api
