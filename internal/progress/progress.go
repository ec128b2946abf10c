// Package progress describes the progress of a session: State is its content in the database, Step is what one commit adds. The
// agent and the engine build steps, internal/postgres commits them. The package knows no database and no configuration.
package progress

import (
	"encoding/json"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
)

// Step is what one commit writes for one session: complete rows that are upserted by ID, requests that are answered, and events
// that are appended to the journal in this order. The holder of the lease owns every row that it writes.
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
	// Verdicts has the verdict of the session, in the step that completes it. The state does not include it.
	Verdicts []tarsy.Verdict
	// Answered are requests that this step closes.
	Answered []tarsy.Request
	Events   []tarsy.Event
	// Announcements are stored with this step and sent later. The state does not include them.
	Announcements []tarsy.Announcement
	// Release releases the lease with this step, unless a request is open.
	Release bool
	// RunAt is when the session can be claimed again after the release; nil means not before the next request.
	RunAt *time.Time
	// Prompts are the prompts of this step's LLM calls by interaction ID, except those that the interaction itself contains.
	// They are for traces and are not stored.
	Prompts map[string]Prompt
}

// Prompt is the messages of an LLM call as sent to the provider.
type Prompt []llm.Message

// EndsCall reports whether the step ends one of its tool calls. A call is stored again after its result was summarized, but its
// event ends only once. A call that waits for an approval, or was not approved, is not made.
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

// EndsSession reports whether the step ends the investigation. Later steps, for questions, store an ended session again but do
// not report its status.
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

// State is what the database contains of one session, as far as the engine needs it to continue.
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
	// Requests are the open requests.
	Requests []tarsy.Request
	LastSeq  int64
}

// Recipe is the stored form of the chain that a session follows. Recipes are stored once, by content.
type Recipe struct {
	// Hash identifies the recipe.
	Hash string `json:"hash"`
	// Needs lists what a server must have configured to run the session: chain:<id>, mcp:<server>, llm:<provider>.
	Needs []string `json:"needs"`
	// Body is the recipe's JSON, which only internal/chain reads.
	Body json.RawMessage `json:"recipe"`
}
