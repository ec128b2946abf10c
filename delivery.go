package tarsy

import "time"

// Delivery is one webhook call, or one alert with an identity that arrived another way: a set of alerts that are decided on together.
type Delivery struct {
	// Identifies the delivery, to detect a repeated one. Nil means that repetitions cannot be detected.
	Key []byte
	// How the alerts arrived, and through which receiver.
	Source   AlertSource
	Receiver string
	// Who delivered them.
	Author string
	// In the sender's order; never empty.
	Alerts []Alert
}

// DeliveryAction is what was done with an alert of a delivery.
type DeliveryAction string

// The actions.
const (
	// ActionInvestigate created a session for the alert.
	ActionInvestigate DeliveryAction = "investigate"
	// ActionCount counted the alert on a session that is investigating it, or did so recently.
	ActionCount DeliveryAction = "count"
	// ActionStorm made the alert a member of a storm.
	ActionStorm DeliveryAction = "storm"
	// ActionSilence suppressed the alert because of a silence or a maintenance window.
	ActionSilence DeliveryAction = "silence"
	// ActionResolve recorded that the alert is resolved.
	ActionResolve DeliveryAction = "resolve"
	// ActionIgnore means that the sender reported something that is not an alert, such as a test or an acknowledgement.
	ActionIgnore DeliveryAction = "ignore"
)

// DeliveryActions lists every action.
func DeliveryActions() []DeliveryAction {
	return []DeliveryAction{ActionInvestigate, ActionCount, ActionStorm, ActionSilence, ActionResolve, ActionIgnore}
}

// DeliveryResult is the result of a delivery.
type DeliveryResult struct {
	// The same delivery was received before; nothing changed, and the other fields repeat the first response.
	Repeated bool `json:"repeated"`
	// In the order of the delivery.
	Alerts []DeliveredAlert `json:"alerts"`
}

// DeliveredAlert is the result for one alert of a delivery.
type DeliveredAlert struct {
	// Same as in AlertFacts.
	Fingerprint string `json:"fingerprint"`
	Title       string `json:"title"`
	// What was done, and why, in a sentence for people.
	Action DeliveryAction `json:"action"`
	Reason string         `json:"reason"`
	// The session that investigates or counts the alert; nil if there is none.
	SessionID *string `json:"session_id"`
	// The suppressed alert; nil if the alert is investigated or unknown.
	SuppressedID *string `json:"suppressed_id"`
}

// SuppressionReason is why an alert got no investigation of its own.
type SuppressionReason string

// The reasons to suppress an alert.
const (
	SuppressedDuplicate   SuppressionReason = "duplicate"
	SuppressedStorm       SuppressionReason = "storm"
	SuppressedSilence     SuppressionReason = "silence"
	SuppressedMaintenance SuppressionReason = "maintenance"
	// SuppressedResolved is a report that an alert is resolved, if no session investigates that alert.
	SuppressedResolved SuppressionReason = "resolved"
)

// SuppressionReasons lists every reason.
func SuppressionReasons() []SuppressionReason {
	return []SuppressionReason{SuppressedDuplicate, SuppressedStorm, SuppressedSilence, SuppressedMaintenance, SuppressedResolved}
}

// SuppressedAlert is an alert that was counted, grouped or silenced instead of investigated. Repetitions share one row.
type SuppressedAlert struct {
	// UUIDv7.
	ID     string            `json:"id"`
	Reason SuppressionReason `json:"reason"`
	// The session that counts it; nil for silenced alerts.
	SessionID *string `json:"session_id"`
	// The silence or the name of the maintenance window that suppressed it; empty otherwise.
	Silence string `json:"silence"`
	// Same as in Session.
	AlertType string `json:"alert_type"`
	AlertFacts
	// Whether it is still firing.
	Firing bool `json:"firing"`
	// How often it was received, and when.
	Occurrences int64     `json:"occurrences"`
	FirstAt     time.Time `json:"first_at"`
	LastAt      time.Time `json:"last_at"`
	// The most recent times, oldest first, at most MaxAlertTimes.
	Times []time.Time `json:"times"`
	// The session that a person started for it, and that person; nil and empty otherwise.
	InvestigationID *string `json:"investigation_id"`
	InvestigatedBy  string  `json:"investigated_by"`
}

// SuppressedFilter selects suppressed alerts for a list, newest first.
type SuppressedFilter struct {
	// Empty matches all.
	Reason    SuppressionReason
	SessionID string
	Severity  Severity
	// Text that the title, the alert type or another fact must contain; empty matches all.
	Search string
	// Alerts that the reader may see.
	Visible Visibility
	// Last item of the previous page; nil starts with the first.
	After *SuppressedCursor
	Limit int
}

// SuppressedCursor is a position in a list of suppressed alerts.
type SuppressedCursor struct {
	// Identify the last alert before the position. The ID breaks ties.
	LastAt time.Time `json:"t"`
	ID     string    `json:"i"`
}

// Silence suppresses matching alerts for a while: they are listed but not investigated.
type Silence struct {
	// UUIDv7.
	ID string `json:"id"`
	// All must match, such as namespace="staging" or alertname=~"Disk.*".
	Matchers []string `json:"matchers"`
	// Why, in the author's words. Required.
	Reason string `json:"reason"`
	Author string `json:"author"`
	// When it takes effect and when it ends.
	StartsAt time.Time `json:"starts_at"`
	EndsAt   time.Time `json:"ends_at"`
	// Who ended it early; empty otherwise.
	EndedBy   string    `json:"ended_by"`
	CreatedAt time.Time `json:"created_at"`
}

// AnnouncementChannel is where an announcement is sent.
type AnnouncementChannel string

// The channels of announcements, in addition to those of WebhookChannel.
const (
	ChannelDiscord AnnouncementChannel = "discord"
	ChannelSlack   AnnouncementChannel = "slack"
)

// WebhookChannel is the channel of a write-back target. Each target has its own channel, so that a session is announced once to each.
func WebhookChannel(target string) AnnouncementChannel {
	return AnnouncementChannel("webhook:" + target)
}

// AnnouncementSubject is what an announcement is about.
type AnnouncementSubject string

// The subjects of announcements.
const (
	// SubjectStart announces that a session has begun. A session has at most one for each channel.
	SubjectStart AnnouncementSubject = "start"
	// SubjectEnd announces that a session is over. A session has at most one for each channel.
	SubjectEnd AnnouncementSubject = "end"
	// SubjectAnswer is the answer to a question that was asked in the channel. It is sent while it is being written.
	SubjectAnswer AnnouncementSubject = "answer"
	// SubjectReceipt confirms an alert that was submitted in the channel.
	SubjectReceipt AnnouncementSubject = "receipt"
	// SubjectApproval announces that a tool call is waiting for approval. A call has at most one for each channel.
	SubjectApproval AnnouncementSubject = "approval"
)

// AnnouncementState is the state of an announcement.
type AnnouncementState string

// The states of announcements.
const (
	AnnouncementPending AnnouncementState = "pending"
	AnnouncementSent    AnnouncementState = "sent"
	AnnouncementFailed  AnnouncementState = "failed"
	// AnnouncementSkipped means that it was not sent because it was no longer relevant; Error says why.
	AnnouncementSkipped AnnouncementState = "skipped"
)

// Announcement is one message to an external channel. It is stored before it is sent, so that a crash loses none.
type Announcement struct {
	// UUIDv7. The nonce of a Discord message is derived from it, Slack messages carry it in their metadata, and webhooks receive it as
	// idempotency key.
	ID string `json:"id"`
	// The session, never empty.
	SessionID string `json:"session_id"`
	// Where it is sent, and what it is about.
	Channel AnnouncementChannel `json:"channel"`
	Subject AnnouncementSubject `json:"subject"`
	// The stage that answers; nil unless Subject is SubjectAnswer.
	StageID *string `json:"stage_id"`
	// The approval; nil unless Subject is SubjectApproval.
	ApprovalID *string `json:"approval_id"`
	// The channel's own ID of the place to post in, such as a channel or thread of Discord or Slack; for a webhook, the name of the target.
	Target string `json:"target"`
	// The message that it replies to; empty if there is none. Unique in a channel, so a message that is received twice gets one reply.
	ReplyTo string `json:"reply_to"`
	// Changes from pending to sent, failed or skipped, and from failed to sent if someone retries the job that sends it.
	State AnnouncementState `json:"state"`
	// Failed attempts so far.
	Attempts int `json:"attempts"`
	// When the next attempt is due; quiet hours delay the first one. For a webhook: when to check next for a job that sends it.
	DueAt time.Time `json:"due_at"`
	// The messages that were posted, in order. A long text takes several.
	MessageIDs []string `json:"message_ids"`
	// The thread that was opened under the message; empty until then.
	ThreadID string `json:"thread_id"`
	// Why the last attempt failed, or why it was skipped.
	Error string `json:"error"`
	// When it was stored.
	CreatedAt time.Time `json:"created_at"`
	// When State became sent; nil before.
	SentAt *time.Time `json:"sent_at"`
}
