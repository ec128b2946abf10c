package notify

import (
	"errors"
	"time"

	"tarsy.dev/tarsy"
)

// SkippedError is the reason why an announcement is no longer necessary.
type SkippedError struct{ Reason string }

// Error implements error.
func (s *SkippedError) Error() string { return s.Reason }

// IsSkipped reports whether the announcement is no longer necessary.
func IsSkipped(err error) bool {
	_, ok := errors.AsType[*SkippedError](err)

	return ok
}

// Overtaken returns why an approval request need not be sent anymore, or nil while the call waits.
func Overtaken(approval tarsy.Approval, now time.Time) error {
	switch {
	case approval.Status.Final():
		return OvertakenBy(approval.Status)
	case !approval.Open(now):
		return OvertakenBy(tarsy.ApprovalExpired)
	default:
		return nil
	}
}

// OvertakenBy returns why an approval request that ended with this status need not be sent anymore.
func OvertakenBy(status tarsy.ApprovalStatus) error {
	how := "was " + string(status)
	if status == tarsy.ApprovalExpired {
		how = "expired"
	}

	return &SkippedError{Reason: "the approval " + how + " before the message was sent"}
}
