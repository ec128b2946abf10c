package tarsytest

import (
	"fmt"
	"regexp"

	"tarsy.dev/tarsy"
)

// Normalizer replaces what differs between runs by stable placeholders. An id gets the same placeholder everywhere, so that
// references can still be checked.
type Normalizer struct {
	names  map[string]string
	counts map[string]int
	// places are the places of executions, owners the executions of timeline events.
	places map[string]place
	owners map[string]string
	// streams reports whether readers have a chunk of each text.
	streams bool
}

// Normalizer returns a Normalizer for a session's ids: {SESSION_ID}, {STAGE_ID_1}, {EXECUTION_ID_1}, {EVENT_ID_1}, … in the
// order of the session, grouped by agent where several ran in parallel. Other ids are numbered as they appear.
func (a *App) Normalizer(sessionID string) *Normalizer {
	a.t.Helper()

	n := &Normalizer{
		names: map[string]string{sessionID: "{SESSION_ID}"}, counts: map[string]int{}, places: map[string]place{}, owners: map[string]string{},
		streams: a.holder != nil,
	}

	session := a.Session(sessionID)
	if session.Chat != nil {
		n.name("CHAT_ID", session.Chat.ID)
	}

	if session.Verdict != nil {
		n.name("VERDICT_ID", session.Verdict.ID)
	}

	for _, stage := range session.Stages {
		n.name("STAGE_ID", stage.ID)

		if stage.ChatUserMessageID != nil {
			n.name("QUESTION_ID", *stage.ChatUserMessageID)
		}

		for _, execution := range stage.Executions {
			n.name("EXECUTION_ID", execution.ID)
			n.places[execution.ID] = place{stage: stage.ID, order: len(n.places) + 1}
		}
	}

	timeline := a.Timeline(sessionID)
	for _, event := range timeline {
		n.owners[event.ID] = text(event.ExecutionID)
	}

	for _, event := range n.Timeline(timeline) {
		n.name("EVENT_ID", event.ID)
	}

	return n
}

var (
	uuidPattern     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timePattern     = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	durationPattern = regexp.MustCompile(`("duration_ms"\s*:\s*)\d+`)
	positionPattern = regexp.MustCompile(`("position"\s*:\s*)\d+(\.\d+)?`)
	serverPattern   = regexp.MustCompile(`("pod_id"\s*:\s*)"[^"]+"`)
)

// Normalize replaces ids, times, durations, positions on the board and server names.
func (n *Normalizer) Normalize(data []byte) []byte {
	text := uuidPattern.ReplaceAllStringFunc(string(data), func(id string) string { return n.name("ID", id) })
	text = timePattern.ReplaceAllString(text, "{TIMESTAMP}")
	text = durationPattern.ReplaceAllString(text, `${1}"{DURATION}"`)
	text = positionPattern.ReplaceAllString(text, `${1}"{POSITION}"`)
	text = serverPattern.ReplaceAllString(text, `${1}"{SERVER_ID}"`)

	return []byte(text)
}

func (n *Normalizer) name(kind, id string) string {
	if name, ok := n.names[id]; ok {
		return name
	}

	n.counts[kind]++
	n.names[id] = fmt.Sprintf("{%s_%d}", kind, n.counts[kind])

	return n.names[id]
}

// nameInteractions names the interactions of a session in the order of its trace.
func (n *Normalizer) nameInteractions(trace tarsy.Trace) {
	for _, stage := range trace.Stages {
		for _, execution := range stage.Executions {
			for _, i := range execution.LLMInteractions {
				n.name("LLM_INTERACTION_ID", i.ID)
			}

			for _, i := range execution.MCPInteractions {
				n.name("MCP_INTERACTION_ID", i.ID)
			}
		}
	}

	for _, i := range trace.SessionInteractions {
		n.name("LLM_INTERACTION_ID", i.ID)
	}
}
