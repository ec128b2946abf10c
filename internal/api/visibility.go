package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
)

const (
	sessionPath  = "/api/v1/sessions/{id}"
	approvalPath = "/api/v1/approvals/{id}"
)

// SessionTeams knows which team sessions belong to.
type SessionTeams interface {
	// SessionTeam is the team that a session belongs to; empty if it belongs to none.
	SessionTeam(ctx context.Context, id string) (string, error)
	// HiddenSessions are those of these sessions that exist and are not visible.
	HiddenSessions(ctx context.Context, ids []string, visible tarsy.Visibility) ([]string, error)
}

// Teams decides whose sessions callers see.
type Teams struct {
	// Groups are the groups of users by team.
	Groups map[string][]string
}

// of are the teams of groups and those that an issuer claims, sorted.
func (t *Teams) of(groups, claimed []string) []string {
	teams := slices.Clone(claimed)

	for team, members := range t.Groups {
		if slices.ContainsFunc(members, func(group string) bool { return slices.Contains(groups, group) }) {
			teams = append(teams, team)
		}
	}

	slices.Sort(teams)

	return slices.Compact(teams)
}

// visibility is which sessions a caller sees. An admin sees all, and so does a key without teams.
func (g *guard) visibility(who *caller) tarsy.Visibility {
	switch {
	case !g.required || g.teams == nil || g.role(who) == tarsy.RoleAdmin:
		return tarsy.Visibility{}
	case who.key != nil:
		return tarsy.Visibility{Limited: len(who.key.Teams) > 0, Teams: who.key.Teams}
	default:
		return tarsy.Visibility{Limited: true, Teams: g.teams.of(who.groups, who.claimedTeams)}
	}
}

// VisibilityOf is which sessions the caller behind a request that reached a handler sees.
func VisibilityOf(r *http.Request) tarsy.Visibility {
	who, ok := r.Context().Value(callerKey{}).(*caller)
	if !ok {
		return tarsy.Visibility{Limited: true}
	}

	return who.visible
}

// checkVisible refuses a request about one session, or about an approval of one, that the caller may not see: to them it does not exist. It
// looks at the address, so that no handler can forget it.
func (s *Server) checkVisible(ctx context.Context, who *caller, found route, path string) error {
	if !who.visible.Limited {
		return nil
	}

	switch {
	case found.path == sessionPath || strings.HasPrefix(found.path, sessionPath+"/"):
		return s.checkSession(ctx, who, idIn(path, sessionPath))
	case found.path == approvalPath || strings.HasPrefix(found.path, approvalPath+"/"):
		return s.checkApproval(ctx, who, idIn(path, approvalPath))
	default:
		return nil
	}
}

// checkSession refuses a session that the caller may not see.
func (s *Server) checkSession(ctx context.Context, who *caller, id string) error {
	if !who.visible.Limited {
		return nil
	}

	if err := checkID(id); err != nil {
		return err
	}

	team, err := s.store.SessionTeam(ctx, id)
	if err != nil {
		return err //nolint:wrapcheck // it is explained or logged as it is
	}

	if !who.visible.Includes(team) {
		return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", id)
	}

	return nil
}

// splitHidden separates ids in the body of a request from those of sessions that the caller may not see. To them these do not exist.
func (s *Server) splitHidden(ctx context.Context, who *caller, ids []string) (visible, hidden []string, err error) {
	if !who.visible.Limited {
		return ids, nil, nil
	}

	known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !tarsy.ValidID(id) })

	found, err := s.store.HiddenSessions(ctx, known, who.visible)
	if err != nil {
		return nil, nil, err //nolint:wrapcheck // it is explained or logged as it is
	}

	isHidden := func(id string) bool { return slices.Contains(found, id) }

	for _, id := range ids {
		if isHidden(id) {
			hidden = append(hidden, id)
		}
	}

	return slices.DeleteFunc(slices.Clone(ids), isHidden), hidden, nil
}

func (s *Server) checkApproval(ctx context.Context, who *caller, id string) error {
	found, err := s.approvals.Get(ctx, id)
	if err != nil {
		return err //nolint:wrapcheck // it is explained or logged as it is
	}

	if !who.visible.Includes(found.Team) {
		return tarsy.Errorf(tarsy.CodeApprovalNotFound, "there is no approval %q", id)
	}

	return nil
}

// idIn is what an address has in the place of {id}.
func idIn(path, pattern string) string {
	at := slices.Index(strings.Split(pattern, "/"), "{id}")

	return strings.Split(path, "/")[at]
}
