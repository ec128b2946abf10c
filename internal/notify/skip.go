package notify

import (
	"errors"
	"time"

	"tarsy.dev/tarsy"
)

// SkippedError is why an announcement has nothing to tell any more.
type SkippedError struct{ Reason string }

// Error implements error.
func (s *SkippedError) Error() string { return s.Reason }

// IsSkipped reports whether there is nothing to tell any more.
func IsSkipped(err error) bool {
	_, ok := errors.AsType[*SkippedError](err)

	return ok
}

// Overtaken is why a request for an approval need not be sent any more; nil while the call waits.
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

// OvertakenBy is why a request for an approval need not be sent any more that has ended so.
func OvertakenBy(status tarsy.ApprovalStatus) error {
	how := "was " + string(status)
	if status == tarsy.ApprovalExpired {
		how = "expired"
	}

	return &SkippedError{Reason: "the approval " + how + " before the message was sent"}
}
