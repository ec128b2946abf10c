package tarsytest

import "tarsy.dev/tarsy"

// Trace reads a session's trace.
func (a *App) Trace(sessionID string) tarsy.Trace {
	a.t.Helper()

	var trace *tarsy.Trace

	eachPage(a, "/api/v1/sessions/"+sessionID+"/trace", func(page struct {
		cursor
		tarsy.Trace
	}) string {
		if trace == nil {
			trace = &page.Trace
		} else {
			trace.Append(page.Trace)
		}

		return page.NextCursor
	})

	return *trace
}

// LLMDetail reads one LLM call of a session's trace with its conversation.
func (a *App) LLMDetail(sessionID, interactionID string) tarsy.LLMInteractionDetail {
	a.t.Helper()

	var detail tarsy.LLMInteractionDetail

	a.get("/api/v1/sessions/"+sessionID+"/trace/llm/"+interactionID, &detail)

	return detail
}

// MCPDetail reads one tool call of a session's trace.
func (a *App) MCPDetail(sessionID, interactionID string) tarsy.MCPInteraction {
	a.t.Helper()

	var detail tarsy.MCPInteraction

	a.get("/api/v1/sessions/"+sessionID+"/trace/mcp/"+interactionID, &detail)

	return detail
}
