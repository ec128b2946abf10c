package slack

import (
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"github.com/slack-go/slack/slackevents"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func refusal(code string) error { return slack.SlackErrorResponse{Err: code} }

// After an error with an unknown outcome, the message is searched for before it is posted again; after a rejection, it was not
// posted.
func TestErrorsThatLeaveTheResultOpen(t *testing.T) {
	t.Parallel()

	for _, err := range []error{
		io.ErrUnexpectedEOF, &net.OpError{Err: errors.New("reset")},
		refusal("internal_error"), refusal("fatal_error"), refusal("service_unavailable"), refusal("request_timeout"),
	} {
		require.True(t, unknown(err), err)
		require.False(t, IsRefused(err), err)
	}

	for _, err := range []error{refusal("channel_not_found"), refusal("invalid_blocks"), refusal("thread_not_found")} {
		require.False(t, unknown(err), err)
		require.True(t, IsRefused(err), err)
	}

	require.False(t, unknown(&slack.RateLimitedError{RetryAfter: time.Second}), "it was not accepted")
}

func TestErrorsAfterWhichAnAnnouncementIsGivenUp(t *testing.T) {
	t.Parallel()

	session, answer := &tarsy.Announcement{Subject: tarsy.SubjectEnd}, &tarsy.Announcement{Subject: tarsy.SubjectAnswer}

	for _, code := range []string{
		"msg_too_long", "msg_blocks_too_long", "no_text", "invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_metadata_format",
		"invalid_metadata_schema", "metadata_too_large",
	} {
		require.True(t, permanent(session, refusal(code)), code)
		require.True(t, permanent(answer, refusal(code)), code)
	}

	// An operator can invite the bot or fix the token. A deleted thread of an answer does not come back.
	for _, code := range []string{"channel_not_found", "is_archived", "thread_not_found", "message_not_found"} {
		require.False(t, permanent(session, refusal(code)), code)
		require.True(t, permanent(answer, refusal(code)), code)
	}

	for _, code := range []string{"not_in_channel", "invalid_auth", "missing_scope", "internal_error", ""} {
		require.False(t, permanent(session, refusal(code)), code)
		require.False(t, permanent(answer, refusal(code)), code)
	}

	require.True(t, permanent(session, errTooMany))
}

// An edited mention was already handled, and messages of bots are not questions.
func TestNonQuestionEventsAreIgnored(t *testing.T) {
	t.Parallel()

	b := &Bot{} // asking would panic

	for name, event := range map[string]any{
		"edited mention":      &slackevents.AppMentionEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?", Edited: &slackevents.Edited{User: "U1"}},
		"mention by a bot":    &slackevents.AppMentionEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?", BotID: "B1"},
		"message of a bot":    &slackevents.MessageEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?", BotID: "B1"},
		"edited message":      &slackevents.MessageEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", SubType: "message_changed"},
		"outside of a thread": &slackevents.MessageEvent{User: "U1", Channel: "C1", TimeStamp: "2", Text: "why?"},
		"first of a thread":   &slackevents.MessageEvent{User: "U1", Channel: "C1", ThreadTimeStamp: "2", TimeStamp: "2", Text: "why?"},
		"our own":             &slackevents.MessageEvent{User: "UBOT", Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?"},
		"nobody's":            &slackevents.MessageEvent{Channel: "C1", ThreadTimeStamp: "1", TimeStamp: "2", Text: "why?"},
		"another kind":        &slackevents.ReactionAddedEvent{User: "U1"},
	} {
		require.True(t, b.handleEvent(t.Context(), "UBOT", event), name)
	}
}
