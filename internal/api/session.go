package api

import (
	"context"
	"fmt"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
)

type listInput struct {
	Order         string              `doc:"Sort order: newest first; or by attention: sessions that wait for an approval, then running, failed, waiting and finished ones. A search is ordered by relevance instead." enum:"newest,attention" default:"newest" query:"order"`
	Statuses      string              `doc:"Statuses, separated by commas."                                         query:"status"`
	Outcomes      string              `doc:"Outcomes of verdicts, separated by commas."                             query:"outcome"`
	Approvals     string              `doc:"Only sessions with tool calls that wait for an approval."               enum:"waiting" query:"approvals"`
	AlertType     string              `doc:"Exactly this alert type."                                               query:"alert_type"`
	ChainID       string              `doc:"Exactly this chain."                                                    query:"chain_id"`
	Author        string              `doc:"Exactly this author."                                                   query:"author"`
	Severity      one[tarsy.Severity] `doc:"Exactly this severity."                                                 query:"severity"`
	Service       string              `doc:"Exactly this service."                                                  query:"service"`
	Namespace     string              `doc:"Exactly this namespace."                                                query:"namespace"`
	Cluster       string              `doc:"Exactly this cluster."                                                  query:"cluster"`
	Team          string              `doc:"Exactly this team."                                                     query:"team"`
	Fingerprint   string              `doc:"Exactly the alert with this fingerprint."                               query:"fingerprint"`
	Labels        []string            `doc:"A label of the alert as name=value. Can be repeated; all must match." query:"label,explode"`
	Handling      string              `doc:"States of handling, separated by commas. A session that nobody has handled is open." query:"handling"`
	Assignee      string              `doc:"Exactly this assignee; me for the caller."                              query:"assignee"`
	Tags          []string            `doc:"A tag of the session, ignoring case. Can be repeated; all must match." query:"tag,explode"`
	Search        search              `doc:"Words in the title, alert, cause, analysis, summary or error. The last word, and every word that ends with *, also matches longer words; quoted words match exactly." query:"search"`
	CreatedAfter  moment              `doc:"Created at this time or later."                                         query:"created_after"`
	CreatedBefore moment              `doc:"Created before this time."                                              query:"created_before"`
	Limit         integer             `doc:"Maximum number of sessions per page."                                   query:"limit"`
	Cursor        cursor              `doc:"The next_cursor of the previous page."                                  query:"cursor"`
}

type listOutput struct{ Body sessionList }

type sessionList struct {
	Sessions   []tarsy.SessionItem `json:"sessions"`
	NextCursor string              `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
}

type sessionInput struct {
	ID string `doc:"The id of a session." path:"id"`
}

type sessionOutput struct{ Body tarsy.SessionDetail }

type cancelOutput struct{ Body cancelAccepted }

type cancelAccepted struct {
	SessionID string              `json:"session_id"`
	Status    tarsy.SessionStatus `doc:"The session's new status. It does not change if only an answer is cancelled." json:"status"`
	Answer    string              `doc:"Set if the answer to a question is being cancelled." enum:"cancelling" json:"answer,omitempty"`
}

// nothing is a body without fields.
type nothing struct{}

func (s *sessions) listSessions(ctx context.Context, in *listInput) (*listOutput, error) {
	filter, err := in.filter(callerOf(ctx).person())
	if err != nil {
		return nil, err
	}

	filter.Visible = callerOf(ctx).visible
	limit := filter.Limit
	filter.Limit++ // one more than the page shows, to detect a next page

	sessions, err := s.store.Sessions(ctx, filter)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}

	out := &listOutput{Body: sessionList{Sessions: append([]tarsy.SessionItem{}, sessions...)}}

	if len(sessions) > limit {
		out.Body.Sessions = out.Body.Sessions[:limit]

		out.Body.NextCursor, err = formatCursor(out.Body.Sessions[limit-1], filter.Order)
		if err != nil {
			return nil, fmt.Errorf("encode cursor: %w", err)
		}
	}

	return out, nil
}

func (s *sessions) getSession(ctx context.Context, in *sessionInput) (*sessionOutput, error) {
	err := in.check()
	if err != nil {
		return nil, err
	}

	detail, err := s.store.SessionDetail(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("show session: %w", err)
	}

	return &sessionOutput{Body: *detail}, nil
}

func (s *sessions) cancelSession(ctx context.Context, in *sessionInput) (*cancelOutput, error) {
	who := callerOf(ctx)

	err := in.checkAction(who)
	if err != nil {
		return nil, err
	}

	status, err := s.intake.Cancel(ctx, in.ID, who.author)
	if err != nil {
		return nil, fmt.Errorf("cancel session: %w", err)
	}

	accepted := cancelAccepted{SessionID: in.ID, Status: status}
	if status != tarsy.SessionCancelling {
		accepted.Answer = string(tarsy.SessionCancelling)
	}

	return &cancelOutput{Body: accepted}, nil
}

// check rejects ids that no session can have.
func (in *sessionInput) check() error { return checkID(in.ID) }

func checkID(sessionID string) error {
	if ident.Valid(sessionID) {
		return nil
	}

	return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", shown(sessionID))
}

// checkAction checks a request that needs only a session: its body, if there is one, has no fields.
func (in *sessionInput) checkAction(who *caller) error {
	err := checkNothing(who)
	if err != nil {
		return err
	}

	return in.check()
}

// checkNothing checks that a request has no body, or one without fields.
func checkNothing(who *caller) error {
	if who.body == nil {
		return nil
	}

	_, err := readRequest[nothing](who.body)

	return err
}
