// Package tarsytest boots the whole of TARSy inside a test: the same wiring as `tarsy serve`, with its own port and
// database, and real HTTP, WebSocket, SSE and PostgreSQL. Only what is outside the system is virtual: the model is a script
// (llm/script), MCP servers run in memory behind the real MCP client, and the clock can be a fake one, which the database's
// timestamps, leases and time limits follow.
//
// Notes are captured and processed by the real queue: Extracts and Organizes script the model's answers, CaptureAndProcess
// returns the stored result.
//
// Nothing here sleeps: a wait ends with the event that it waits for, or fails the test and reports what it has seen
// instead. Only WaitAnswer and the waits for notes poll: for state that no event reports, or that existed before anybody
// listened. The API exposes no internal types. A test package calls Main from its TestMain, which also checks for leaked
// goroutines.
package tarsytest
