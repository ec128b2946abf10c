package tarsy

import "time"

// AnnouncementChannel is where an announcement goes.
type AnnouncementChannel string

// ChannelDiscord is the channel of messages to Discord, ChannelSlack that of messages to Slack.
const (
	ChannelDiscord AnnouncementChannel = "discord"
	ChannelSlack   AnnouncementChannel = "slack"
)

// WebhookChannel is the channel of a target of write-back. Each has its own, so that a session is announced once in each.
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
	// SubjectAnswer is the answer to a question that was asked in the channel. It is sent while it is written.
	SubjectAnswer AnnouncementSubject = "answer"
	// SubjectReceipt confirms an alert that was submitted in the channel.
	SubjectReceipt AnnouncementSubject = "receipt"
	// SubjectApproval tells that a tool call waits for an approval. A call has at most one for each channel.
	SubjectApproval AnnouncementSubject = "approval"
)

// AnnouncementState is how far an announcement has come.
type AnnouncementState string

// The states of announcements.
const (
	AnnouncementPending AnnouncementState = "pending"
	AnnouncementSent    AnnouncementState = "sent"
	AnnouncementFailed  AnnouncementState = "failed"
	// AnnouncementSkipped means that it was not sent because it had nothing to tell any more; Error is why.
	AnnouncementSkipped AnnouncementState = "skipped"
)

// Announcement is one message to people outside. It is stored before it is sent, so that a crash loses none.
type Announcement struct {
	// UUIDv7. The nonce of a message to Discord is derived from it, and messages to Slack have it in their metadata; a webhook gets it as
	// its idempotency key.
	ID string `json:"id"`
	// The session, never empty.
	SessionID string `json:"session_id"`
	// Where it goes and what it is about.
	Channel AnnouncementChannel `json:"channel"`
	Subject AnnouncementSubject `json:"subject"`
	// The stage that answers; nil unless Subject is SubjectAnswer.
	StageID *string `json:"stage_id"`
	// The approval; nil unless Subject is SubjectApproval.
	ApprovalID *string `json:"approval_id"`
	// The channel's own ID of the place to post in, such as a channel or thread of Discord or Slack; the name of a target of write-back.
	Target string `json:"target"`
	// The message that it replies to; empty if there is none. Unique in a channel, so a message that is received twice has one reply.
	ReplyTo string `json:"reply_to"`
	// Changes from pending to sent, failed or skipped, and from failed to sent if somebody retries the job that sends it.
	State AnnouncementState `json:"state"`
	// Failed attempts so far.
	Attempts int `json:"attempts"`
	// When the next attempt is due; quiet hours delay the first one. For a webhook: when a job for it is looked for next.
	DueAt time.Time `json:"due_at"`
	// The messages that were posted, in order. A long text has several.
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
