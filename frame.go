package tarsy

// The types of messages about a connection, which are neither journal events nor transient events.
const (
	TypeEstablished  = "connection.established"
	TypeSubscribed   = "subscription.confirmed"
	TypeUnsubscribed = "subscription.removed"
	TypeOverflow     = "catchup.overflow"
	TypePong         = "pong"
	TypeError        = "error"
	TypeEnd          = "end"
	TypeBye          = "bye"
)

// EstablishedFrame is the first message on a WebSocket.
type EstablishedFrame struct {
	// Always TypeEstablished.
	Type string `doc:"The type of the message." json:"type"`
	// Appears as connection_id in the server's logs. Not needed by clients.
	ConnectionID string `doc:"The id of the connection in the server's log." json:"connection_id" schema:"id"`
}

// SubscriptionFrame confirms that the client subscribed to or unsubscribed from a channel.
type SubscriptionFrame struct {
	// TypeSubscribed or TypeUnsubscribed.
	Type string `doc:"The type of the message." json:"type"`
	// "sessions", "notes", or "session:" and an ID.
	Channel string `doc:"The channel from the client's message." json:"channel" schema:"channel"`
}

// OverflowFrame asks the reader to load the session, or the lists of notes, over REST, because too many events are missing or some were deleted.
type OverflowFrame struct {
	// Always TypeOverflow.
	Type string `doc:"The type of the message." json:"type"`
	// Channel of a journal; the sessions feed reports Behind instead.
	Channel string `doc:"The channel of the message." json:"channel" schema:"journal_channel"`
	// Delivery continues with the event after this one.
	Head int64 `doc:"The number of the last event that was not replayed." json:"head" minimum:"1"`
}

// PongFrame answers a ping.
type PongFrame struct {
	// Always TypePong.
	Type string `doc:"The type of the message." json:"type"`
}

// ErrorFrame reports a command that failed. The connection stays open.
type ErrorFrame struct {
	// Always TypeError.
	Type string `doc:"The type of the message." json:"type"`
	// Empty if the command had no channel or could not be parsed.
	Channel string `doc:"The channel from the client's message, unchanged." json:"channel,omitempty"`
	// From the Error that the command resulted in; CodeInternal for unexpected ones.
	Code    Code   `doc:"A stable error code." json:"code"`
	Message string `doc:"The error message, for people." json:"message"`
}

// EndFrame is the last event of a session's SSE stream.
type EndFrame struct {
	// Always TypeEnd.
	Type string `doc:"The type of the message." json:"type"`
	// Terminal: there is nothing to reconnect for.
	Status SessionStatus `doc:"The final status of the session." json:"status" schema:"terminal_status"`
}

// ByeFrame is the last event of an SSE stream that ends because its server is shutting down or its reader's login ended.
type ByeFrame struct {
	// Always TypeBye.
	Type string `doc:"The type of the message." json:"type"`
	// For display. Clients reconnect with their last event ID.
	Reason string `doc:"Why the stream ends, for people." json:"reason"`
}
