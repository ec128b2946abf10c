package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
)

// cancelManyRequest is the body that cancels several sessions.
type cancelManyRequest struct {
	IDs    []string      `doc:"Ids of the sessions, at most 1,000. Set either ids or filter."               json:"ids,omitempty"`
	Filter *cancelFilter `doc:"Cancels the active sessions that match. An empty filter matches all of them." json:"filter,omitempty"`
	DryRun bool          `doc:"Changes nothing and returns what would be cancelled."                         json:"dry_run,omitempty"`
}

// cancelFilter has those parameters of the session list that apply to active sessions.
type cancelFilter struct {
	Statuses      string   `doc:"Only these of the statuses pending, in_progress and cancelling, separated by commas." json:"status,omitempty"`
	Approvals     string   `allowed:"waiting" doc:"The value waiting selects only sessions with tool calls that wait for an approval."   json:"approvals,omitempty"`
	AlertType     string   `doc:"Exactly this alert type."                                                             json:"alert_type,omitempty"`
	ChainID       string   `doc:"Exactly this chain."                                                                  json:"chain_id,omitempty"`
	Author        string   `doc:"Exactly this author."                                                                 json:"author,omitempty"`
	Severity      string   `doc:"Exactly this severity."                                                               json:"severity,omitempty"`
	Service       string   `doc:"Exactly this service."                                                                json:"service,omitempty"`
	Namespace     string   `doc:"Exactly this namespace."                                                              json:"namespace,omitempty"`
	Cluster       string   `doc:"Exactly this cluster."                                                                json:"cluster,omitempty"`
	Team          string   `doc:"Exactly this team."                                                                   json:"team,omitempty"`
	Fingerprint   string   `doc:"Exactly the alert with this fingerprint."                                             json:"fingerprint,omitempty"`
	Labels        []string `doc:"Labels of the alert as name=value; all must match."                                   json:"label,omitempty"`
	Search        search   `doc:"Search terms, as in the session list."                                                json:"search,omitempty"`
	CreatedAfter  string   `doc:"Created at this time or later."                                   format:"date-time"  json:"created_after,omitempty"`
	CreatedBefore string   `doc:"Created before this time."                                        format:"date-time"  json:"created_before,omitempty"`
}

type cancelManyOutput struct{ Body tarsy.BulkCancel }

func (s *sessions) cancelSessions(ctx context.Context, _ *struct{}) (*cancelManyOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[cancelManyRequest](who.body)
	if err != nil {
		return nil, err
	}

	ids, more, err := s.cancelTargets(ctx, request)
	if err != nil {
		return nil, err
	}

	var hidden []string

	if request.Filter == nil { // a filter finds visible sessions only
		ids, hidden, err = s.teams.splitHidden(ctx, who, ids)
		if err != nil {
			return nil, fmt.Errorf("cancel sessions: %w", err)
		}
	}

	result, err := s.intake.CancelMany(ctx, ids, who.author, request.DryRun)
	if err != nil {
		return nil, fmt.Errorf("cancel sessions: %w", err)
	}

	for _, id := range hidden {
		result.Skipped = append(result.Skipped, tarsy.SkippedCancel{SessionID: id, Reason: tarsy.CancelNotFound})
	}

	// Restore the order of the request, so that the position does not tell hidden sessions from those that do not exist.
	slices.SortStableFunc(result.Skipped, func(a, b tarsy.SkippedCancel) int {
		return cmp.Compare(slices.Index(request.IDs, a.SessionID), slices.Index(request.IDs, b.SessionID))
	})

	result.More = more

	if result.Requested == 0 || result.DryRun {
		audit.Unchanged(ctx)
	}

	return &cancelManyOutput{Body: result}, nil
}

// cancelTargets returns the ids of the sessions that a request selects, and whether there are more than one request cancels.
func (s *sessions) cancelTargets(ctx context.Context, request cancelManyRequest) (ids []string, more bool, err error) {
	switch {
	case (request.IDs == nil) == (request.Filter == nil):
		return nil, false, missing("ids", "a list of ids of sessions, or send filter instead")
	case request.Filter != nil:
		return s.matchingActive(ctx, *request.Filter)
	case len(request.IDs) > tarsy.MaxCancelIDs:
		return nil, false, tarsy.FieldErrorf(tarsy.CodeInvalidField, "ids", "ids has more than %d sessions", tarsy.MaxCancelIDs)
	}

	for _, id := range request.IDs {
		if !ident.Valid(id) {
			return nil, false, tarsy.FieldErrorf(tarsy.CodeInvalidField, "ids", "%q is not the id of a session", shown(id))
		}
	}

	return request.IDs, false, nil
}

// matchingActive finds the active sessions that match a filter, page by page.
func (s *sessions) matchingActive(ctx context.Context, given cancelFilter) (ids []string, more bool, err error) {
	filter, err := given.filter()
	if err != nil || len(filter.Statuses) == 0 {
		return nil, false, err
	}

	filter.Visible = callerOf(ctx).visible

	for {
		page, err := s.store.Sessions(ctx, filter)
		if err != nil {
			return nil, false, fmt.Errorf("find sessions to cancel: %w", err)
		}

		for _, item := range page {
			if len(ids) == tarsy.MaxCancelMatches {
				return ids, true, nil
			}

			if !item.Status.Terminal() {
				ids = append(ids, item.ID)
			}
		}

		if len(page) < filter.Limit {
			return ids, false, nil
		}

		filter.After = cursorAfter(page[len(page)-1], filter.Order)
	}
}

// filter returns the filter of the session list, restricted to active sessions. Without statuses nothing can match.
func (f cancelFilter) filter() (tarsy.SessionFilter, error) {
	filter, err := readSessionFilter(&f)
	if refused, ok := errors.AsType[*tarsy.Error](err); ok && refused.Field != "" {
		return filter, tarsy.FieldErrorf(refused.Code, joined("filter", refused.Field), "%s", refused.Message)
	}

	if err != nil {
		return filter, err
	}

	active := slices.DeleteFunc(tarsy.SessionStatuses(), tarsy.SessionStatus.Terminal)
	if len(filter.Statuses) > 0 {
		active = slices.DeleteFunc(active, func(status tarsy.SessionStatus) bool { return !slices.Contains(filter.Statuses, status) })
	}

	filter.Statuses = active

	return filter, nil
}
