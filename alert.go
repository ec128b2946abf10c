package tarsy

import (
	"cmp"
	"strconv"
	"strings"
	"time"
)

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
	// Identifies the request among those of its sender; nil if the sender gave no key.
	Idempotency *IdempotencyKey
	// What the alert is about, as reported by the sender; intake adds what it can derive from Data.
	Facts AlertFacts
	// The sender reports that the alert is resolved. Only in deliveries.
	Resolved bool
	// Overrides the chain of AlertType; set by a configured route or by a re-run.
	ChainID string
	// Reject the alert if ChainID is not configured, instead of falling back to the chain of AlertType. Set if a person chose the chain.
	ChainRequired bool
	// Provider for all agents of the session, overriding those of the chain. Empty keeps those of the chain. Only in re-runs.
	LLMProvider string
}

// MaxIdempotencyKey is the maximum length of a sender's idempotency key, in characters.
const MaxIdempotencyKey = 255

// IdempotencyKey makes a repeated request return the session of the first one. The sender's own key is never stored.
type IdempotencyKey struct {
	// Hash of the sender and its key.
	Hash []byte
	// Hash of the request, to distinguish a retry from a different request with the same key.
	Fingerprint []byte
}

// MCPSelection limits what the agents of a chain may use for one alert: each keeps those of its servers that are listed here.
// Nothing outside the chain can be selected.
type MCPSelection struct {
	// Each server at most once. Empty only if NativeTools is set.
	Servers []MCPServerSelection `json:"servers"`
	// Nil leaves the provider's native tools as configured.
	NativeTools *NativeToolsSelection `json:"native_tools,omitempty"`
}

// MCPServerSelection is one selected server.
type MCPServerSelection struct {
	// Key of the server in the configuration.
	Name string `json:"name"`
	// Tool names as the server lists them; empty means all of its tools.
	Tools []string `json:"tools,omitempty"`
}

// NativeToolsSelection disables native tools of the provider.
type NativeToolsSelection struct {
	// False disables the tool. True and nil leave it as configured; true is rejected if the chain disables the tool.
	// Ignored in calls that have MCP tools bound.
	GoogleSearch  *bool `json:"google_search,omitempty"`
	CodeExecution *bool `json:"code_execution,omitempty"`
	URLContext    *bool `json:"url_context,omitempty"`
}

// Severity is how severe an alert is. Intake maps each sender's own terms to these.
type Severity string

// The severities, worst first. SeverityUnknown means that the alert does not specify one.
const (
	SeverityCritical Severity = "critical"
	SeverityHigh     Severity = "high"
	SeverityWarning  Severity = "warning"
	SeverityInfo     Severity = "info"
	SeverityUnknown  Severity = ""
)

// Severities lists the known severities, worst first.
func Severities() []Severity {
	return []Severity{SeverityCritical, SeverityHigh, SeverityWarning, SeverityInfo}
}

// Level returns the severity as a number, from 0 for SeverityInfo and SeverityUnknown to 3 for SeverityCritical.
func (s Severity) Level() int {
	switch s {
	case SeverityCritical:
		return 3
	case SeverityHigh:
		return 2
	case SeverityWarning:
		return 1
	case SeverityInfo, SeverityUnknown:
	}

	return 0
}

// AlertSource is how an alert reached TARSy.
type AlertSource string

// The sources of alerts. SourceAPI includes the command line and the dashboard.
const (
	SourceAPI          AlertSource = "api"
	SourceDiscord      AlertSource = "discord"
	SourceSlack        AlertSource = "slack"
	SourceAlertmanager AlertSource = "alertmanager"
	SourceGrafana      AlertSource = "grafana"
	SourcePagerDuty    AlertSource = "pagerduty"
	SourceSentry       AlertSource = "sentry"
	SourceDatadog      AlertSource = "datadog"
	SourceCloudWatch   AlertSource = "cloudwatch"
	SourceGeneric      AlertSource = "generic"
)

// AlertSources lists every source.
func AlertSources() []AlertSource {
	return append([]AlertSource{SourceAPI, SourceDiscord, SourceSlack}, WebhookSources()...)
}

// WebhookSources lists the sources that deliver alerts to webhook receivers.
func WebhookSources() []AlertSource {
	return []AlertSource{SourceAlertmanager, SourceGrafana, SourcePagerDuty, SourceSentry, SourceDatadog, SourceCloudWatch, SourceGeneric}
}

// AlertFacts describes what an alert is about. Intake derives it from labels, annotations and configured paths, else from the text; it does
// not change afterwards. All of its values are masked.
type AlertFacts struct {
	// One line for people. Empty only in sessions created by old releases.
	Title string `json:"title"`
	// Empty if the alert does not specify it.
	Severity Severity `json:"severity"`
	// What is affected; each is empty if the alert does not specify it.
	Service   string `json:"service"`
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// The team that owns it; empty if the alert does not specify it.
	Team string `json:"team"`
	// The sender's labels; empty, not nil.
	Labels map[string]string `json:"labels"`
	// Pages about the alert; empty, not nil.
	Links []AlertLink `json:"links"`
	// When the problem began, as reported by the sender; nil if unknown.
	StartsAt *time.Time `json:"starts_at"`
	// Identifies the alert across deliveries: the same problem has the same fingerprint.
	Fingerprint string `json:"fingerprint"`
	// Identifies the group that the alert is counted in, built from the configured labels. Empty for an alert that is not deduplicated.
	GroupKey string `json:"group_key"`
	// How the alert reached TARSy.
	Source AlertSource `json:"source"`
	// Name of the receiver in the configuration; empty unless a webhook delivered the alert.
	Receiver string `json:"receiver"`
}

// TitleOr returns the title, or alertType for a session created by an old release.
func (f AlertFacts) TitleOr(alertType string) string { return cmp.Or(f.Title, alertType) }

// Place returns namespace and service in one word, such as shop/checkout. It is empty if the alert specifies neither.
func (f AlertFacts) Place() string {
	if f.Namespace == "" || f.Service == "" {
		return f.Namespace + f.Service
	}

	return f.Namespace + "/" + f.Service
}

// AlertLinkKind is what a link leads to.
type AlertLinkKind string

// The kinds of links of an alert.
const (
	LinkGenerator AlertLinkKind = "generator"
	LinkDashboard AlertLinkKind = "dashboard"
	LinkPanel     AlertLinkKind = "panel"
	LinkRunbook   AlertLinkKind = "runbook"
	LinkSilence   AlertLinkKind = "silence"
	LinkIncident  AlertLinkKind = "incident"
)

// AlertLinkKinds lists every kind of link.
func AlertLinkKinds() []AlertLinkKind {
	return []AlertLinkKind{LinkGenerator, LinkDashboard, LinkPanel, LinkRunbook, LinkSilence, LinkIncident}
}

// AlertLink is a page about an alert.
type AlertLink struct {
	// What it leads to.
	Kind AlertLinkKind `json:"kind"`
	// Absolute, http or https.
	URL string `json:"url"`
}

// Limits on facts. Longer texts are truncated, excess labels and links are dropped.
const (
	MaxTitle      = 200
	MaxLabels     = 64
	MaxLabelName  = 128
	MaxLabelValue = 1024
	MaxAlertLinks = 16
)

// AlertState is what has happened to a session's alert since the session was created. It is updated while the session runs and afterwards.
type AlertState struct {
	// Whether the alert is still firing. In a storm: whether any member is.
	Firing bool `json:"firing"`
	// How often the alert was received, including the first time. In a storm: the total of all members.
	Occurrences int64 `json:"occurrences"`
	// When it was last received, and the most recent times, oldest first, at most MaxAlertTimes.
	LastAt time.Time   `json:"last_at"`
	Times  []time.Time `json:"times"`
	// When the sender reported it as resolved; nil while it is firing.
	ResolvedAt *time.Time `json:"resolved_at"`
	// It switches between firing and resolved too often.
	Flapping bool `json:"flapping"`
	// The session investigates a storm: alerts of one group that arrived close together. Members is how many there are, FiringMembers how
	// many of them are still firing; both are zero otherwise.
	Storm         bool  `json:"storm"`
	Members       int64 `json:"members"`
	FiringMembers int64 `json:"firing_members"`
	// The session that investigated the same alert before; nil if there is none.
	EarlierSessionID *string `json:"earlier_session_id"`
}

// MaxAlertTimes is how many occurrence times are kept.
const MaxAlertTimes = 20

// Describe summarizes the state for people, such as "resolved at 12:03, received 4 times, last at 12:01". It formats times with format.
func (s AlertState) Describe(format func(time.Time) string) string {
	parts := []string{"firing"}

	switch {
	case s.ResolvedAt != nil:
		parts[0] = "resolved at " + format(*s.ResolvedAt)
	case !s.Firing:
		parts[0] = "resolved"
	}

	if s.Flapping {
		parts = append(parts, "flapping")
	}

	if s.Storm {
		parts = append(parts, "storm of "+strconv.FormatInt(s.Members, 10)+" alerts, "+strconv.FormatInt(s.FiringMembers, 10)+" firing")
	}

	if s.Occurrences > 1 {
		parts = append(parts, "received "+strconv.FormatInt(s.Occurrences, 10)+" times, last at "+format(s.LastAt))
	}

	return strings.Join(parts, ", ")
}

// OwnServer is the server name in calls of TARSy's own tools. No MCP server may be configured with this name.
const OwnServer = "tarsy"

// Likeness is why a past session is similar to another one.
type Likeness string

// The likenesses, strongest first.
const (
	// The same alert: the fingerprint is equal.
	LikenessFingerprint Likeness = "fingerprint"
	// The alert has the same name and shares other labels.
	LikenessLabels Likeness = "labels"
	// The alert or the conclusion has the same rare words.
	LikenessText Likeness = "text"
)

// SimilarSession is a past session that may help with another one.
type SimilarSession struct {
	// Same as in Session.
	ID        string `json:"id"`
	AlertType string `json:"alert_type"`
	// Title and severity of the alert; may be empty.
	Title    string `json:"title"`
	Severity string `json:"severity"`
	// How it ended.
	Status SessionStatus `json:"status"`
	// The strongest reason why it is listed.
	Likeness Likeness `json:"likeness"`
	// Labels that both alerts have with the same value; empty, not nil.
	SharedLabels map[string]string `json:"shared_labels"`
	// Same as in Session and Verdict.
	Outcome    Outcome    `json:"outcome"`
	Cause      string     `json:"cause"`
	Confidence Confidence `json:"confidence"`
	// The worst rating that people gave, and the real cause that they reported most recently; empty without feedback.
	Rating    Rating `json:"rating"`
	RealCause string `json:"real_cause"`
	// When it was submitted and when it ended.
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at"`
}
