package tarsy

// The types of messages about one connection, which are neither journal events nor transient events.
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

// EstablishedFrame is the first message of a WebSocket.
type EstablishedFrame struct {
	Type         string `doc:"What kind of message this is."     json:"type"`
	ConnectionID string `doc:"The connection, as logs name it." json:"connection_id" schema:"id"`
}

// SubscriptionFrame confirms that a channel was subscribed to or unsubscribed from.
type SubscriptionFrame struct {
	Type    string `doc:"What kind of message this is."       json:"type"`
	Channel string `doc:"The channel that the client named." json:"channel" schema:"channel"`
}

// OverflowFrame tells a reader to load the session by REST: the journal's events up to Head are not sent.
type OverflowFrame struct {
	Type    string `doc:"What kind of message this is."                         json:"type"`
	Channel string `doc:"The channel that it came on."                         json:"channel" schema:"session_channel"`
	Head    int64  `doc:"The number of the last event that is not replayed." json:"head"    minimum:"1"`
}

// PongFrame answers a ping.
type PongFrame struct {
	Type string `doc:"What kind of message this is." json:"type"`
}

// ErrorFrame answers a command that the server could not follow.
type ErrorFrame struct {
	Type    string `doc:"What kind of message this is."                         json:"type"`
	Channel string `doc:"The channel that the client named, as it wrote it." json:"channel,omitempty"`
	Code    Code   `doc:"A stable name for what was wrong."                    json:"code"`
	Message string `doc:"What was wrong, for people."                          json:"message"`
}

// EndFrame is the last event of a session's SSE stream.
type EndFrame struct {
	Type   string        `doc:"What kind of message this is." json:"type"`
	Status SessionStatus `doc:"The session's last status."   json:"status" schema:"terminal_status"`
}

// ByeFrame is the last event of an SSE stream whose server shuts down.
type ByeFrame struct {
	Type   string `doc:"What kind of message this is."     json:"type"`
	Reason string `doc:"Why the stream ends, for people." json:"reason"`
}
