package client

import (
	"context"
	"iter"
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
	return resolve(part, "session", tarsy.CodeSessionNotFound, func() ([]string, error) {
		return ids(List(ctx, c, ListSessions, Filter{}, maxCandidates), func(s tarsy.SessionItem) string { return s.ID })
	}, tarsy.Errorf(tarsy.CodeSessionNotFound, "no session matches %q among the last %d", part, maxCandidates))
}

// FindApproval returns the waiting approval whose id begins or ends with part. If part is a whole id of which no approval waits, only the
// id is set, so that the server can explain what happened to it.
func (c *Client) FindApproval(ctx context.Context, part string) (tarsy.ApprovalRequest, error) {
	waiting, err := All(List(ctx, c, ListApprovals, ApprovalFilter{}, 0))
	if err != nil {
		return tarsy.ApprovalRequest{}, err
	}

	id, err := resolve(part, "approval", tarsy.CodeApprovalNotFound, func() (all []string, err error) {
		for _, approval := range waiting {
			all = append(all, approval.ID)
		}

		return all, nil
	}, tarsy.Errorf(tarsy.CodeApprovalNotFound, "no tool call that waits for an approval matches %q; tarsy approvals list shows those that wait", part))

	for _, approval := range waiting {
		if approval.ID == id {
			return approval, err
		}
	}

	return tarsy.ApprovalRequest{ID: id}, err
}

// ResolveSilence returns the id of a silence, given by its beginning or end.
func (c *Client) ResolveSilence(ctx context.Context, part string) (string, error) {
	return resolve(part, "silence", tarsy.CodeNotFound, func() ([]string, error) {
		return ids(List(ctx, c, ListSilences, SilenceFilter{All: true}, 0), func(s tarsy.Silence) string { return s.ID })
	}, tarsy.Errorf(tarsy.CodeNotFound, "no silence matches %q", part))
}

// ResolveSuppressed returns the id of a suppressed alert, given by its beginning or end.
func (c *Client) ResolveSuppressed(ctx context.Context, part string) (string, error) {
	return resolve(part, "suppressed alert", tarsy.CodeNotFound, func() ([]string, error) {
		return ids(List(ctx, c, ListSuppressed, SuppressedFilter{}, maxCandidates), func(a tarsy.SuppressedAlert) string { return a.ID })
	}, tarsy.Errorf(tarsy.CodeNotFound, "no suppressed alert matches %q among the last %d", part, maxCandidates))
}

// ResolveShare returns the id of a share of a session, given by its beginning or end.
func (c *Client) ResolveShare(ctx context.Context, sessionID, part string) (string, error) {
	return resolve(part, "share", tarsy.CodeNotFound, func() ([]string, error) {
		return ids(List(ctx, c, ListShares, nil, 0, sessionID), func(s tarsy.Share) string { return s.ID })
	}, tarsy.Errorf(tarsy.CodeNotFound, "the session has no share that matches %q", part))
}

// ids returns the ids of the items of a list.
func ids[Item any](list iter.Seq2[Item, error], id func(Item) string) (all []string, err error) {
	for item, err := range list {
		if err != nil {
			return nil, err
		}

		all = append(all, id(item))
	}

	return all, nil
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

	candidates, err := list()
	if err != nil {
		return "", err
	}

	var found []string

	for _, id := range candidates {
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
