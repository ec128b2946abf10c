// Package api is the HTTP face of TARSy: the REST routes and their OpenAPI document, who may use them, and how errors
// look. The WebSocket and the event stream come from outside as handlers and are mounted behind the same guard.
//
// Every answer that is not a success is an RFC 9457 problem with a stable code, and this package alone decides which
// HTTP status a code has. It knows nothing of chains and agents nor of SQL: what it needs it takes as the small
// interfaces Store and Intake.
package api
