package client

import (
	"context"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

const (
	// maxCandidates is how many sessions Resolve searches.
	maxCandidates = 1000
	// minPartLength is the minimum number of characters of a partial id.
	minPartLength = 4
)

// Resolve returns the id of a session, given whole or by its beginning or end, with or without dashes. A partial id
// is searched only among recent sessions.
func (c *Client) Resolve(ctx context.Context, part string) (string, error) {
	return resolve(part, "session", tarsy.CodeSessionNotFound, func() (ids []string, err error) {
		for session, err := range List(ctx, c, ListSessions, Filter{}, maxCandidates) {
			if err != nil {
				return nil, err
			}

			ids = append(ids, session.ID)
		}

		return ids, nil
	}, tarsy.Errorf(tarsy.CodeSessionNotFound, "no session matches %q among the last %d", part, maxCandidates))
}

// ResolveApproval returns the id of a waiting approval, given by its beginning or end. A whole id is returned without a search.
func (c *Client) ResolveApproval(ctx context.Context, part string) (string, error) {
	return resolve(part, "approval", tarsy.CodeApprovalNotFound, func() (ids []string, err error) {
		for approval, err := range List(ctx, c, ListApprovals, ApprovalFilter{}, 0) {
			if err != nil {
				return nil, err
			}

			ids = append(ids, approval.ID)
		}

		return ids, nil
	}, tarsy.Errorf(tarsy.CodeApprovalNotFound, "no tool call that waits for an approval matches %q; tarsy approvals list shows those that wait", part))
}

// resolve returns the one id from list that begins or ends with part. A whole id is returned without a search.
func resolve(part, what string, code tarsy.Code, list func() ([]string, error), missing error) (string, error) {
	digits := idDigits(part)

	if id := withDashes(digits); ident.Valid(id) {
		return id, nil
	}

	if len(digits) < minPartLength {
		return "", tarsy.Errorf(code, "%q is too short: use at least %d characters of the %s's id", part, minPartLength, what)
	}

	ids, err := list()
	if err != nil {
		return "", err
	}

	var found []string

	for _, id := range ids {
		if compared := idDigits(id); strings.HasSuffix(compared, digits) || strings.HasPrefix(compared, digits) {
			found = append(found, id)
		}
	}

	switch len(found) {
	case 0:
		return "", missing
	case 1:
		return found[0], nil
	default:
		return "", tarsy.Errorf(tarsy.CodeInvalidParameter, "%q matches %d %ss: use more of the id", part, len(found), what)
	}
}

// idDigits normalizes an id for comparison: lower case, without dashes.
func idDigits(id string) string { return strings.ToLower(strings.ReplaceAll(id, "-", "")) }

// withDashes formats an id of 32 digits as the server does.
func withDashes(digits string) string {
	const whole = 32
	if len(digits) != whole {
		return digits
	}

	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}
