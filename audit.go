package tarsy

import "time"

// ActorKind is how the actor of an audit entry proved who it is.
type ActorKind string

// The kinds of actors.
const (
	// ActorKey sent an API key. Its name is that of the key, or of the user that a trusted proxy reported with it.
	ActorKey ActorKind = "key"
	// ActorBrowser is a browser session that was logged in with an API key.
	ActorBrowser ActorKind = "browser"
	// ActorProxy was identified by a trusted proxy and sent no key.
	ActorProxy ActorKind = "proxy"
	// ActorOIDC is a browser session that was logged in with OpenID Connect. Its name is what the issuer claims, and need not be unique.
	ActorOIDC ActorKind = "oidc"
	// ActorDiscord wrote a message in Discord.
	ActorDiscord ActorKind = "discord"
	// ActorSlack wrote a message or clicked a button in Slack.
	ActorSlack ActorKind = "slack"
	// ActorCLI ran a command directly on the database.
	ActorCLI ActorKind = "cli"
	// ActorSystem is the server itself.
	ActorSystem ActorKind = "system"
	// ActorAnonymous is unauthenticated, on a server that requires no keys.
	ActorAnonymous ActorKind = "anonymous"
)

// ActorKinds lists the kinds of actors.
func ActorKinds() []ActorKind {
	return []ActorKind{ActorKey, ActorBrowser, ActorProxy, ActorOIDC, ActorDiscord, ActorSlack, ActorCLI, ActorSystem, ActorAnonymous}
}

// AuditOK is the outcome of an action that succeeded.
const AuditOK = "ok"

// AuditEntry is one row of the audit log: who did something, or was refused. Rows are numbered from 1 without gaps, and each contains the
// hash of the previous one.
type AuditEntry struct {
	// The position in the log, from 1.
	ID int64 `json:"id"`
	// UTC, in microseconds.
	At time.Time `json:"at"`
	// The author of the action, as in sessions and requests.
	Actor string `json:"actor"`
	// How the actor proved who it is.
	ActorKind ActorKind `json:"actor_kind"`
	// The key that was used; empty if none was.
	KeyID     string `json:"key_id"`
	KeyPrefix string `json:"key_prefix"`
	// What the actor may do; empty if that is unknown, as in Discord and Slack.
	Role AccessRole `json:"role"`
	// A stable name, such as session.cancel.
	Action string `json:"action"`
	// What the action changed; the ID is empty if there is no single target.
	TargetType string `json:"target_type"`
	TargetID   string `json:"target_id"`
	// The X-Request-ID of the request; empty for actions that are not requests.
	RequestID string `json:"request_id"`
	// The client's address; empty if there is none.
	Remote string `json:"remote"`
	// AuditOK, or the code of the error.
	Outcome string `json:"outcome"`
	// Additional facts, such as the name of a created key. Never contains secrets or request bodies.
	Details map[string]string `json:"details"`
	// The hash of the previous row, in hexadecimal; 64 zeros in the first row.
	PrevHash string `json:"prev_hash"`
	// SHA-256 over all other fields, in hexadecimal.
	Hash string `json:"hash"`
}

// AuditFilter selects rows of the audit log. Empty fields match everything.
type AuditFilter struct {
	// Actor is who performed the action.
	Actor string
	// Action is the name of the action, such as session.cancel.
	Action string
	// TargetType is the kind of thing that was changed, such as session.
	TargetType string
	// TargetID identifies the target.
	TargetID string
	// Since is inclusive, Until is not.
	Since *time.Time
	Until *time.Time
	// OldestFirst orders by ascending ID; otherwise the newest come first.
	OldestFirst bool
	// After is the id of the last row of the previous page; 0 means the first page.
	After int64
	Limit int
}
