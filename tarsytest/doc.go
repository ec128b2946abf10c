// Package tarsytest boots the whole of TARSy inside a test: the same wiring as `tarsy serve`, on a port of its own and
// a database of its own, with real HTTP, WebSocket, SSE and PostgreSQL. Only what lies outside the system is
// virtual: the model is a script (llm/script), MCP servers live in memory behind the real MCP client, and the clock
// may be a fake one, which the database's timestamps, leases and time limits follow.
//
// Notes are captured and processed by the real queue: Extracts and Organizes are what the model answers, CaptureAndProcess returns what
// the database has at the end.
//
// Nothing in here sleeps: a wait ends with the event that it waits for, or fails the test and tells what was seen
// instead. Only WaitAnswer and the waits for notes ask again and again: for what no event tells, or what was there before
// anybody listened. The API shows no internal type. A test package calls Main from its TestMain, which also checks for
// leaked goroutines.
package tarsytest
