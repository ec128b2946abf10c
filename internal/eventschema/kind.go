package eventschema

import (
	"reflect"
	"slices"

	"tarsy.dev/tarsy"
)

// Delivery is the delivery guarantee of a kind of message.
type Delivery string

// Delivery guarantees.
const (
	// Journal events are numbered and stored: each is delivered once, in order, and can be read again.
	Journal Delivery = "journal"
	// Transient events are sent to the current readers only, and may be dropped.
	Transient Delivery = "transient"
	// Connection messages concern a single connection.
	Connection Delivery = "connection"
)

// sessionChannel is the channel of a session as written in documentation.
const sessionChannel = tarsy.ChannelSessionPrefix + "<id>"

// Kind is one type of message.
type Kind struct {
	Type     string
	Delivery Delivery
	// Channel is where the message is sent, as written in documentation; empty for messages about the connection itself.
	Channel string
	// Over is the transport.
	Over string
	// When describes the event that triggers the message.
	When string

	payload reflect.Type
	// envelope has the fields that the stream adds to the payload, or is nil.
	envelope reflect.Type
	// always are fields that this kind always has although they are optional in its shared payload.
	always []string
	// statuses are the possible values of the field status; nil if the payload type defines them.
	statuses []any
}

// Kinds returns every type of message in documentation order.
func Kinds() []Kind {
	return slices.Concat(journalKinds(), noteKinds(), transientKinds(), connectionKinds())
}

const both = "WebSocket and SSE"

func journalKinds() []Kind {
	kind := func(name, when string, payload reflect.Type) Kind {
		return Kind{
			Type: name, Delivery: Journal, Channel: sessionChannel, Over: both, When: when,
			payload: payload, envelope: reflect.TypeFor[journalEnvelope](),
		}
	}

	return []Kind{
		kind(tarsy.TypeSessionStatus, "The session has a new status.", reflect.TypeFor[tarsy.SessionStatusPayload]()),
		kind(tarsy.TypeApprovalStatus, "An approval of a tool call was requested or decided.", reflect.TypeFor[tarsy.ApprovalStatusPayload]()),
		kind(tarsy.TypeSessionVerdict, "The verdict of the investigation was written. The session's last status follows.", reflect.TypeFor[tarsy.SessionVerdictPayload]()),
		kind(tarsy.TypeStageStatus, "A stage started or ended.", reflect.TypeFor[tarsy.StageStatusPayload]()),
		kind(tarsy.TypeExecutionStatus, "An agent of a stage started or ended.", reflect.TypeFor[tarsy.ExecutionStatusPayload]()),
		kind(tarsy.TypeTimelineCreated, "A timeline event was created. If its status is final, no `timeline_event.completed` follows.", reflect.TypeFor[tarsy.TimelineCreatedPayload]()),
		kind(tarsy.TypeTimelineCompleted, "The content of a timeline event that was streaming is final.",
			reflect.TypeFor[tarsy.TimelineCompletedPayload]()),
		kind(tarsy.TypeChatCreated, "The first question about the session was asked.", reflect.TypeFor[tarsy.ChatCreatedPayload]()),
		kind(tarsy.TypeChatUserMessage, "A question was asked, and a stage answers it.",
			reflect.TypeFor[tarsy.ChatUserMessagePayload]()),
	}
}

func transientKinds() []Kind {
	return []Kind{
		{
			Type: tarsy.TypeStreamChunk, Delivery: Transient, Channel: sessionChannel, Over: both,
			When:    "A piece of text that a model wrote.",
			payload: reflect.TypeFor[tarsy.StreamChunkPayload](), envelope: reflect.TypeFor[chunkEnvelope](),
		},
		{
			Type: tarsy.TypeSessionChanged, Delivery: Transient, Channel: tarsy.ChannelSessions, Over: "WebSocket",
			When:    "A session has new events, or messages were dropped and the list must be loaded again.",
			payload: reflect.TypeFor[tarsy.SessionChangedPayload](), envelope: reflect.TypeFor[feedEnvelope](),
		},
	}
}

func connectionKinds() []Kind {
	kind := func(name, over, when string, payload reflect.Type) Kind {
		return Kind{Type: name, Delivery: Connection, Over: over, When: when, payload: payload}
	}

	return []Kind{
		kind(tarsy.TypeEstablished, "WebSocket", "The connection is open; always the first message.", reflect.TypeFor[tarsy.EstablishedFrame]()),
		kind(tarsy.TypeSubscribed, "WebSocket", "The response to `subscribe`; the messages of the channel follow.",
			reflect.TypeFor[tarsy.SubscriptionFrame]()),
		kind(tarsy.TypeUnsubscribed, "WebSocket", "The response to `unsubscribe`; no more messages of the channel follow.",
			reflect.TypeFor[tarsy.SubscriptionFrame]()),
		kind(tarsy.TypeOverflow, both, "Too many events would have to be replayed (more than 200 on a WebSocket, 1,000 over SSE), or the requested events "+
			"were removed. Load the session, or the lists of notes, by REST; the events after `head` follow.", reflect.TypeFor[tarsy.OverflowFrame]()),
		kind(tarsy.TypePong, "WebSocket", "The response to `ping`.", reflect.TypeFor[tarsy.PongFrame]()),
		kind(tarsy.TypeError, "WebSocket", "The client's message was invalid. The connection stays open.",
			reflect.TypeFor[tarsy.ErrorFrame]()),
		kind(tarsy.TypeEnd, "SSE", "The session has ended and all events were sent; the response ends.", reflect.TypeFor[tarsy.EndFrame]()),
		kind(tarsy.TypeBye, "SSE", "The server is shutting down, could not read the events, or the reader's key or browser session is no longer valid. In the last case a new request gets 401.", reflect.TypeFor[tarsy.ByeFrame]()),
	}
}

// Fields that the stream adds to the payloads of events.
type (
	journalEnvelope struct {
		DBEventID int64  `doc:"The event's number in the session's journal." json:"db_event_id" minimum:"1"`
		Channel   string `doc:"The channel of the message." json:"channel" schema:"session_channel"`
	}
	noteEnvelope struct {
		DBEventID int64  `doc:"The event's number in the journal of notes." json:"db_event_id" minimum:"1"`
		Channel   string `const:"notes" doc:"The channel of the message." json:"channel"`
	}
	chunkEnvelope struct {
		Channel string `doc:"The channel of the message." json:"channel" schema:"session_channel"`
	}
	feedEnvelope struct {
		Channel string `const:"sessions" doc:"The channel of the message." json:"channel"`
	}
)
