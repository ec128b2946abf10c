// Package progress holds how far a session has come: State is what the database has of it, Step is what one commit adds.
// The agent and the engine build steps, internal/postgres commits them. It knows no database and no configuration.
package progress

import (
	"encoding/json"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// Step is what one commit writes of one session: whole rows that are put by id, requests that are answered and
// events that are appended to the journal in this order. The holder of the lease owns every row it puts.
type Step struct {
	Session         *tarsy.Session
	Stages          []tarsy.Stage
	Executions      []tarsy.Execution
	Timeline        []tarsy.TimelineEvent
	Messages        []tarsy.Message
	LLMInteractions []tarsy.LLMInteraction
	MCPInteractions []tarsy.MCPInteraction
	Chats           []tarsy.Chat
	ChatMessages    []tarsy.ChatUserMessage
	// Verdicts has the verdict of the session, with the step that completes it. The state does not hold it.
	Verdicts []tarsy.Verdict
	// Answered are requests that this step closes.
	Answered []tarsy.Request
	Events   []tarsy.Event
	// Announcements are stored with this step and sent later. The state does not hold them.
	Announcements []tarsy.Announcement
	// Release gives the lease back with this step, unless a request is open.
	Release bool
	// RunAt is when the session is to be claimed again after the release; nil means not before somebody requests something.
	RunAt *time.Time
	// Prompts are what the LLM calls of this step were made with, by the id of the interaction, unless the interaction has it. They are
	// for traces and not stored.
	Prompts map[string]Prompt
}

// Prompt is the messages of an LLM call as the provider got them.
type Prompt []llm.Message

// EndsCall reports whether the step ends one of its tool calls. A call is stored again when its result was summarized, but its event
// ends once. A call that waits for an approval, or was not approved, is not made.
func (s *Step) EndsCall(call *tarsy.MCPInteraction) bool {
	if call.CompletedAt == nil || call.Approval != nil && call.Approval.StartedAt == nil {
		return false
	}

	for i := range s.Timeline {
		if s.Timeline[i].ID == call.TimelineEventID {
			return true
		}
	}

	return false
}

// EndsSession reports whether the step ends the investigation. Later steps, of questions, store an ended session again but do not
// report it.
func (s *Step) EndsSession() bool {
	if s.Session == nil || !s.Session.Status.Terminal() {
		return false
	}

	for i := range s.Events {
		if s.Events[i].Type == tarsy.TypeSessionStatus {
			return true
		}
	}

	return false
}

// State is what the database holds of one session, as far as the engine needs it to go on.
type State struct {
	Session         tarsy.Session
	Stages          []tarsy.Stage
	Executions      []tarsy.Execution
	Timeline        []tarsy.TimelineEvent
	Messages        []tarsy.Message
	LLMInteractions []tarsy.LLMInteraction
	MCPInteractions []tarsy.MCPInteraction
	Chats           []tarsy.Chat
	ChatMessages    []tarsy.ChatUserMessage
	// Requests are the open ones.
	Requests []tarsy.Request
	LastSeq  int64
}

// Recipe is the chain that a session follows, as it is stored: once, by its content.
type Recipe struct {
	// Hash names the recipe.
	Hash string `json:"hash"`
	// Needs is what a server must have configured to run the session: chain:<id>, mcp:<server>, llm:<provider>.
	Needs []string `json:"needs"`
	// Body is the recipe's JSON, which only internal/chain reads.
	Body json.RawMessage `json:"recipe"`
}
