package slack

import (
	"errors"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"tarsy.dev/tarsy"
)

var errTooMany = errors.New("an earlier attempt may have posted it, and the channel has too many messages since then to look for it")

// code returns the error code that Slack returned, or "" if there was no response.
func code(err error) string {
	if refused, ok := errors.AsType[slack.SlackErrorResponse](err); ok {
		return refused.Err
	}

	return ""
}

// retryAfter returns how long Slack asks to wait.
func retryAfter(err error) (time.Duration, bool) {
	limited, ok := errors.AsType[*slack.RateLimitedError](err)
	if !ok {
		return 0, false
	}

	return limited.RetryAfter, true
}

// unknown reports whether a failed request may have taken effect: it got no response, or an error after which, according to
// Slack, some aspect of the operation may have succeeded.
func unknown(err error) bool {
	if _, limited := retryAfter(err); limited {
		return false
	}

	return code(err) == "" || slices.Contains([]string{"internal_error", "fatal_error", "service_unavailable", "request_timeout"}, code(err))
}

// gone reports whether the thread or message no longer exists.
func gone(err error) bool {
	return slices.Contains([]string{"thread_not_found", "message_not_found", "cant_update_message", "edit_window_closed"}, code(err))
}

// IsRefused reports whether Slack responded that it rejects a request, as opposed to not responding.
func IsRefused(err error) bool { return code(err) != "" && !unknown(err) }

// permanent reports whether a retry is pointless because Slack rejects the message itself. An operator can fix a token, a scope
// or a channel, so announcements are retried; a deleted thread of an answer does not come back.
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
