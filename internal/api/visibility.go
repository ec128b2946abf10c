package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/people"
	"tarsy.dev/tarsy/internal/postgres"
)

const (
	sessionPath  = "/api/v1/sessions/{id}"
	approvalPath = "/api/v1/approvals/{id}"
	notePath     = "/api/v1/notes/{id}"
	entityPath   = "/api/v1/entities/{id}"
	reviewPath   = "/api/v1/review/{id}"
)

// teamCheck refuses access to what belongs to teams whose sessions the caller cannot see.
type teamCheck struct {
	store  *postgres.DB
	notes  *store.DB
	people *people.Desk
}

// Teams determines whose sessions callers can see.
type Teams struct {
	// Groups are the groups of users by team.
	Groups map[string][]string
}

// of returns the teams of groups and those that an issuer claims, sorted.
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

// visibility returns which sessions a caller can see. An admin can see all, and so can a key without teams.
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

// VisibilityOf returns which sessions the caller of a request that reached a handler can see.
func VisibilityOf(r *http.Request) tarsy.Visibility {
	who, ok := r.Context().Value(callerKey{}).(*caller)
	if !ok {
		return tarsy.Visibility{Limited: true}
	}

	return who.visible
}

// checkVisible refuses a request about a session, or about a result of one, that the caller cannot see, as not found. It checks the
// path, so that no handler can forget it.
func (t *teamCheck) checkVisible(ctx context.Context, who *caller, found route, path string) error {
	if !who.visible.Limited {
		return nil
	}

	for _, known := range []struct {
		path  string
		check func(ctx context.Context, who *caller, id string) error
	}{
		{sessionPath, t.checkSession}, {approvalPath, t.checkApproval}, {notePath, t.checkNote}, {entityPath, t.checkEntity}, {reviewPath, t.checkReview},
	} {
		if found.path == known.path || strings.HasPrefix(found.path, known.path+"/") {
			return known.check(ctx, who, idIn(path, known.path))
		}
	}

	return nil
}

func (t *teamCheck) checkNote(ctx context.Context, who *caller, id string) error {
	return t.checkTeam(ctx, who, id, (*store.DB).NoteTeam, tarsy.Errorf(tarsy.CodeNoteNotFound, "there is no note %s", shown(id)))
}

func (t *teamCheck) checkEntity(ctx context.Context, who *caller, id string) error {
	return t.checkTeam(ctx, who, id, (*store.DB).EntityTeam, tarsy.Errorf(tarsy.CodeEntityNotFound, "there is no entity %s", shown(id)))
}

func (t *teamCheck) checkReview(ctx context.Context, who *caller, id string) error {
	return t.checkTeam(ctx, who, id, (*store.DB).ReviewTeam, tarsy.Errorf(tarsy.CodeReviewNotFound, "there is no review item %s", shown(id)))
}

// checkTeam refuses what belongs to a team whose sessions the caller cannot see. Unknown ids are left to the handler.
func (t *teamCheck) checkTeam(
	ctx context.Context, who *caller, id string, teamOf func(*store.DB, context.Context, string) (string, error), hidden *tarsy.Error,
) error {
	if !who.visible.Limited {
		return nil
	}

	switch team, err := teamOf(t.notes, ctx, id); {
	case tarsy.CodeOf(err) == hidden.Code:
		return nil
	case err != nil:
		return err
	case !who.visible.Includes(team):
		return hidden
	default:
		return nil
	}
}

// checkNeighbours refuses to place an entity next to one that the caller cannot see.
func (t *teamCheck) checkNeighbours(ctx context.Context, who *caller, move moveRequest) error {
	for field, id := range map[string]string{"before_id": move.BeforeID, "after_id": move.AfterID} {
		if id == "" {
			continue
		}

		if err := t.checkEntity(ctx, who, id); tarsy.CodeOf(err) == tarsy.CodeEntityNotFound {
			return tarsy.FieldErrorf(tarsy.CodeConflict, field, "%s is not in this column any more; load the list and try again", id)
		} else if err != nil {
			return err
		}
	}

	return nil
}

// checkSession refuses a session that the caller cannot see.
func (t *teamCheck) checkSession(ctx context.Context, who *caller, id string) error {
	if !who.visible.Limited {
		return nil
	}

	if err := checkID(id); err != nil {
		return err
	}

	team, err := t.store.SessionTeam(ctx, id)
	if err != nil {
		return err
	}

	if !who.visible.Includes(team) {
		return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", id)
	}

	return nil
}

// splitHidden separates ids in a request's body from those of sessions that the caller cannot see, which are treated as not found.
func (t *teamCheck) splitHidden(ctx context.Context, who *caller, ids []string) (visible, hidden []string, err error) {
	if !who.visible.Limited {
		return ids, nil, nil
	}

	known := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !ident.Valid(id) })

	found, err := t.store.HiddenSessions(ctx, known, who.visible)
	if err != nil {
		return nil, nil, err
	}

	isHidden := func(id string) bool { return slices.Contains(found, id) }

	for _, id := range ids {
		if isHidden(id) {
			hidden = append(hidden, id)
		}
	}

	return slices.DeleteFunc(slices.Clone(ids), isHidden), hidden, nil
}

func (t *teamCheck) checkApproval(ctx context.Context, who *caller, id string) error {
	found, err := t.people.Approval(ctx, id)
	if err != nil {
		return err
	}

	if !who.visible.Includes(found.Team) {
		return tarsy.Errorf(tarsy.CodeApprovalNotFound, "there is no approval %q", id)
	}

	return nil
}

// idIn returns the part of a path in the position of {id}.
func idIn(path, pattern string) string {
	at := slices.Index(strings.Split(pattern, "/"), "{id}")

	return strings.Split(path, "/")[at]
}
