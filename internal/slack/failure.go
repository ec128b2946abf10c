package slack

import (
	"errors"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
)

var errTooMany = errors.New("an earlier attempt may have posted it, and the channel has too many messages since then to look for it")

// code is the error that Slack returned; empty if it did not answer.
func code(err error) string {
	if refused, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return refused.Err
	}

	return ""
}

// retryAfter is how long Slack wants to be left alone.
func retryAfter(err error) (time.Duration, bool) {
	limited, ok := errors.AsType[*slack.RateLimitedError](err)
	if !ok {
		return 0, false
	}

	return limited.RetryAfter, true
}

// unknown reports whether a request may have had its effect although it failed: it was not answered, or with an error after which, as Slack
// says, some aspect of the operation may have succeeded.
func unknown(err error) bool {
	if _, limited := retryAfter(err); limited {
		return false
	}

	return code(err) == "" || slices.Contains([]string{"internal_error", "fatal_error", "service_unavailable", "request_timeout"}, code(err))
}

// gone reports whether the thread or the message that was named does not exist any more.
func gone(err error) bool {
	return slices.Contains([]string{"thread_not_found", "message_not_found", "cant_update_message", "edit_window_closed"}, code(err))
}

// IsRefused reports whether Slack answered that it does not accept a request, as opposed to no answer.
func IsRefused(err error) bool { return code(err) != "" && !unknown(err) }

// permanent reports whether trying again is pointless: Slack does not accept the message itself. An operator can fix a token, a scope or a
// channel, so announcements are sent later; the thread of an answer does not come back.
func permanent(a *tarsy.Announcement, err error) bool {
	if errors.Is(err, errTooMany) {
		return true
	}

	switch code(err) {
	case "msg_too_long", "msg_blocks_too_long", "no_text", "invalid_blocks", "invalid_blocks_format", "invalid_arguments", "invalid_metadata_format",
		"invalid_metadata_schema", "metadata_too_large":
		return true
	}

	return a.Subject == tarsy.SubjectAnswer && (gone(err) || code(err) == "channel_not_found" || code(err) == "is_archived")
}
