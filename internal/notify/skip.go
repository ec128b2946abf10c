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

// CheckStillOpen returns why an approval request need not be sent anymore, or nil while the call waits.
func CheckStillOpen(approval tarsy.Approval, now time.Time) error {
	switch {
	case approval.Status.Final():
		return SkippedForStatus(approval.Status)
	case !approval.Open(now):
		return SkippedForStatus(tarsy.ApprovalExpired)
	default:
		return nil
	}
}

// SkippedForStatus returns why an approval request that ended with this status need not be sent anymore.
func SkippedForStatus(status tarsy.ApprovalStatus) error {
	how := "was " + string(status)
	if status == tarsy.ApprovalExpired {
		how = "expired"
	}

	return &SkippedError{Reason: "the approval " + how + " before the message was sent"}
}
