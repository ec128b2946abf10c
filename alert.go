package tarsy

// MaxAlertBytes is the largest alert that intake accepts.
const MaxAlertBytes = 1 << 20

// DefaultAuthor is the author of an alert submitted without an API key and without a user from a trusted proxy.
const DefaultAuthor = "api-client"

// Alert is a submitted alert before intake turns it into a session.
type Alert struct {
	// Selects the chain. Empty means the configured default type.
	AlertType string
	// Free text; JSON payloads arrive here as indented text. Required, at most MaxAlertBytes.
	Data string
	// Text of the runbook; empty unless the caller supplied it inline.
	Runbook string
	// Fetched when the session starts. Ignored if Runbook is set; if both are empty, intake uses the default runbook.
	RunbookURL string
	// Limits the tools that the chain allows; nil keeps all of them.
	MCPSelection *MCPSelection
	// Slack message that the alert came from, as its sender identifies it; empty if there is none.
	SlackMessageFingerprint string
	// User reported by a trusted proxy, else the name of the API key. Empty means DefaultAuthor.
	Author string
	// ID of the session being re-run; nil for a new alert.
	RerunOf *string
	// Identifies the request among its sender's; nil if the sender gave no key.
	Idempotency *IdempotencyKey
	// What the alert is about, as far as its sender tells; intake adds what it can derive from Data.
	Facts AlertFacts
	// The sender reports that the alert is over. Only in deliveries.
	Resolved bool
	// Chain to use instead of the one of AlertType; set by a route of the configuration, or for a re-run.
	ChainID string
	// Refuse the alert if ChainID is not configured, instead of using the chain of AlertType. Set if a person chose the chain.
	ChainRequired bool
	// Provider that all agents of the session use, whatever the chain sets. Empty keeps those of the chain. Only in re-runs.
	LLMProvider string
}

// MaxIdempotencyKey is how many characters a sender's idempotency key may have.
const MaxIdempotencyKey = 255

// IdempotencyKey makes a repeated request return the session of the first one. The sender's own key is never stored.
type IdempotencyKey struct {
	// Hash of the sender and its key.
	Hash []byte
	// Hash of the request, to tell a repetition from another request with the same key.
	Fingerprint []byte
}

// MCPSelection limits what the agents of a chain may use for one alert: each keeps those of its servers that are listed here.
// Nothing outside the chain can be selected.
type MCPSelection struct {
	// Each server at most once. Empty only if NativeTools is set.
	Servers []MCPServerSelection `json:"servers"`
	// Nil leaves the provider's own tools as configured.
	NativeTools *NativeToolsSelection `json:"native_tools,omitempty"`
}

// MCPServerSelection is one selected server.
type MCPServerSelection struct {
	// Key of the server in the configuration.
	Name string `json:"name"`
	// Tool names as the server lists them; empty means all of its tools.
	Tools []string `json:"tools,omitempty"`
}

// NativeToolsSelection switches the provider's own tools off.
type NativeToolsSelection struct {
	// False disables the tool. True and nil leave it as configured; true is refused where the chain has the tool off.
	// Ignored in calls that have MCP tools bound.
	GoogleSearch  *bool `json:"google_search,omitempty"`
	CodeExecution *bool `json:"code_execution,omitempty"`
	URLContext    *bool `json:"url_context,omitempty"`
}
