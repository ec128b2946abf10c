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

// Severity is how bad an alert is. Senders have their own words; intake maps them to these.
type Severity string

// The severities, worst first. SeverityUnknown is the severity of alerts that do not tell.
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

// Level is how many levels a severity is above the lowest, which is that of SeverityInfo and of alerts that do not tell.
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

// WebhookSources lists the sources that deliver to a receiver.
func WebhookSources() []AlertSource {
	return []AlertSource{SourceAlertmanager, SourceGrafana, SourcePagerDuty, SourceSentry, SourceDatadog, SourceCloudWatch, SourceGeneric}
}

// AlertFacts is what an alert is about. Intake derives it from labels, annotations and configured paths, else from the text; it does
// not change afterwards. Everything in it is masked.
type AlertFacts struct {
	// One line for people. Empty only in sessions of old releases.
	Title string `json:"title"`
	// Empty if the alert does not tell.
	Severity Severity `json:"severity"`
	// What the alert is about; each is empty if the alert does not tell.
	Service   string `json:"service"`
	Namespace string `json:"namespace"`
	Cluster   string `json:"cluster"`
	// Who owns it; empty if the alert does not tell.
	Team string `json:"team"`
	// The sender's labels; empty, not nil.
	Labels map[string]string `json:"labels"`
	// Pages about the alert; empty, not nil.
	Links []AlertLink `json:"links"`
	// When the problem began, as the sender says; nil if it does not.
	StartsAt *time.Time `json:"starts_at"`
	// Identifies the alert across deliveries: the same problem has the same fingerprint.
	Fingerprint string `json:"fingerprint"`
	// Identifies the group that the alert is counted in, made of the configured labels. Empty for an alert that is not deduplicated.
	GroupKey string `json:"group_key"`
	// How the alert came.
	Source AlertSource `json:"source"`
	// Name of the receiver in the configuration; empty unless a webhook delivered the alert.
	Receiver string `json:"receiver"`
}

// TitleOr returns the title, or the alert type for a session of an old release.
func (f AlertFacts) TitleOr(alertType string) string { return cmp.Or(f.Title, alertType) }

// Place returns namespace and service in one word, such as shop/checkout. It is empty if the alert tells neither.
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

// Limits of facts. Longer texts are cut, further labels and links are left out.
const (
	MaxTitle      = 200
	MaxLabels     = 64
	MaxLabelName  = 128
	MaxLabelValue = 1024
	MaxAlertLinks = 16
)

// AlertState is what became of a session's alert since the session was created. It is counted while the session runs and after.
type AlertState struct {
	// Whether the alert still fires. In a storm: whether any of its members does.
	Firing bool `json:"firing"`
	// How often the alert was received, the first time included. In a storm: of all members.
	Occurrences int64 `json:"occurrences"`
	// When it was received last, and the latest of these times, oldest first, at most MaxAlertTimes.
	LastAt time.Time   `json:"last_at"`
	Times  []time.Time `json:"times"`
	// When the sender reported it as resolved; nil while it fires.
	ResolvedAt *time.Time `json:"resolved_at"`
	// It changes between firing and resolved too often.
	Flapping bool `json:"flapping"`
	// The session investigates a storm: alerts of one group that came close together. Members is how many there are, FiringMembers
	// how many of them still fire; both are zero otherwise.
	Storm         bool  `json:"storm"`
	Members       int64 `json:"members"`
	FiringMembers int64 `json:"firing_members"`
	// The session that investigated the same alert before; nil if there is none.
	EarlierSessionID *string `json:"earlier_session_id"`
}

// MaxAlertTimes is how many times of occurrences are kept.
const MaxAlertTimes = 20

// Describe tells people what became of the alert, such as "resolved at 12:03, received 4 times, last at 12:01". The function formats times.
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

// OwnServer is the name that calls of TARSy's own tools have instead of an MCP server's. No MCP server may be configured with it.
const OwnServer = "tarsy"

// Likeness is why a past session is similar to another one.
type Likeness string

// The likenesses, the strongest first.
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
	// Why it is listed; the strongest reason.
	Likeness Likeness `json:"likeness"`
	// Labels that both alerts have with the same value; empty, not nil.
	SharedLabels map[string]string `json:"shared_labels"`
	// Same as in Session and Verdict.
	Outcome    Outcome    `json:"outcome"`
	Cause      string     `json:"cause"`
	Confidence Confidence `json:"confidence"`
	// The worst rating that people gave, and the newest real cause that they named; empty without feedback.
	Rating    Rating `json:"rating"`
	RealCause string `json:"real_cause"`
	// When it was submitted and when it ended.
	CreatedAt   time.Time  `json:"created_at"`
	CompletedAt *time.Time `json:"completed_at"`
}
