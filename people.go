package tarsy

import (
	"slices"
	"time"
)

// Person is who performs an action. People see the name; ownership is decided by the identity, because names need not be unique.
type Person struct {
	// As in Session.Author.
	Name string
	// The ID of an API key, "user:" with the user of a login or a proxy, or "discord:" or "slack:" with the user's ID there. Empty for
	// callers without an identity, on servers that require no key: then the name decides.
	ID string
}

// Visibility is which sessions a person can see. The zero value sees all of them.
type Visibility struct {
	// Limits it to sessions of Teams and to those without a team.
	Limited bool
	// The teams, if it is limited.
	Teams []string
}

// Includes reports whether a session that belongs to a team is visible.
func (v Visibility) Includes(team string) bool {
	return !v.Limited || team == "" || slices.Contains(v.Teams, team)
}

// Values returns the teams of visible sessions, including the empty one; nil means any.
func (v Visibility) Values() []string {
	if !v.Limited {
		return nil
	}

	return append([]string{""}, v.Teams...)
}

// Scope is what an API key is allowed to do.
type Scope string

// The scopes of API keys: read sees everything, write also submits and cancels, admin also manages keys.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// AccessRole is what a person or program is allowed to do. Each role includes the weaker ones.
type AccessRole string

// The roles: a viewer sees everything, a responder also submits, asks, cancels and deletes, an admin also manages keys and the server.
const (
	RoleViewer    AccessRole = "viewer"
	RoleResponder AccessRole = "responder"
	RoleAdmin     AccessRole = "admin"
)

// AccessRoles lists the roles, weakest first.
func AccessRoles() []AccessRole { return []AccessRole{RoleViewer, RoleResponder, RoleAdmin} }

// Includes reports whether the role is at least as strong as needed. An unknown role includes nothing.
func (r AccessRole) Includes(needed AccessRole) bool {
	return slices.Index(AccessRoles(), needed) >= 0 && slices.Index(AccessRoles(), r) >= slices.Index(AccessRoles(), needed)
}

// Role returns the role that corresponds to the scope, one to one. It is empty for an unknown scope.
func (s Scope) Role() AccessRole {
	switch s {
	case ScopeRead:
		return RoleViewer
	case ScopeWrite:
		return RoleResponder
	case ScopeAdmin:
		return RoleAdmin
	default:
		return ""
	}
}

// Scope returns the scope of an API key with the role; empty for an unknown role.
func (r AccessRole) Scope() Scope {
	for _, scope := range []Scope{ScopeRead, ScopeWrite, ScopeAdmin} {
		if scope.Role() == r {
			return scope
		}
	}

	return ""
}

// APIKey is a stored key. Only a hash of its secret is stored, and not in this struct.
type APIKey struct {
	// UUIDv7, chosen when the key is issued.
	ID string `json:"id"`
	// Who or what uses the key, at most 100 characters. Recorded as author unless a trusted proxy reports a user. Need not be unique.
	Name string `json:"name"`
	// Eight characters from the secret, unique, to tell keys apart.
	Prefix string `json:"prefix"`
	// At least one, weakest first.
	Scopes []Scope `json:"scopes"`
	// UTC.
	CreatedAt time.Time `json:"created_at"`
	// Nil if never used. Updated at most once a minute.
	LastUsedAt *time.Time `json:"last_used_at"`
	// Nil while the key is valid. Revoking twice keeps the first time.
	RevokedAt *time.Time `json:"revoked_at"`
	// From this time on the key is rejected. Nil if it does not expire.
	ExpiresAt *time.Time `json:"expires_at"`
	// Teams whose sessions the key can see, if visibility is limited by team; empty means all. An admin always sees all.
	Teams []string `json:"teams"`
}

// Active reports whether the key is accepted at the given time.
func (k APIKey) Active(at time.Time) bool { return k.RevokedAt == nil && !k.Expired(at) }

// Expired reports whether the key has expired at the given time.
func (k APIKey) Expired(at time.Time) bool { return k.ExpiresAt != nil && !at.Before(*k.ExpiresAt) }

// How long a share is valid, and how many valid shares a session can have.
const (
	DefaultShareLife = 7 * 24 * time.Hour
	MaxShareLife     = 90 * 24 * time.Hour
	MaxShares        = 100
)

// Share lets anyone who has its secret read one session until it expires. The secret is shown once, when the share is created.
type Share struct {
	// UUIDv7.
	ID string `json:"id"`
	// The session that can be read.
	SessionID string `json:"session_id"`
	// Who created it.
	Author string `json:"author"`
	// When it was created and when it expires.
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Nil unless it was revoked.
	RevokedAt *time.Time `json:"revoked_at"`
	// When it was last used; nil if it never was.
	LastUsedAt *time.Time `json:"last_used_at"`
	// How often it was used.
	Uses int64 `json:"uses"`
}

// SharedSession is what a share shows of a session. It excludes the prompts, the text of the alert, the cost and the chat.
type SharedSession struct {
	// Same as in Session.
	ID        string `json:"id"`
	AlertType string `json:"alert_type"`
	AlertFacts
	// Chain and status when it was read.
	ChainID string        `json:"chain_id"`
	Status  SessionStatus `json:"status"`
	// The conclusion, as in Session.
	FinalAnalysis    string  `json:"final_analysis"`
	ExecutiveSummary string  `json:"executive_summary"`
	Outcome          Outcome `json:"outcome"`
	// Nil if there is none.
	Verdict *Verdict `json:"verdict"`
	// Why there is no conclusion, or an early one, as in Session.
	ErrorCode      string `json:"error_code"`
	ErrorMessage   string `json:"error_message"`
	ConcludedEarly string `json:"concluded_early"`
	// Same as in Session.
	CreatedAt   time.Time  `json:"created_at"`
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	// Stages of the investigation, ordered by StageIndex; empty, not nil.
	Stages []SharedStage `json:"stages"`
}

// SharedStage is what a share shows of a stage.
type SharedStage struct {
	// Same as in Stage.
	ID        string    `json:"id"`
	StageName string    `json:"stage_name"`
	StageType StageType `json:"stage_type"`
	// Position in the session and state.
	StageIndex int    `json:"stage_index"`
	Status     Status `json:"status"`
	// Nil until it has started and ended.
	StartedAt   *time.Time `json:"started_at"`
	CompletedAt *time.Time `json:"completed_at"`
	// Ordered by AgentIndex; empty, not nil.
	Executions []SharedExecution `json:"executions"`
}

// SharedExecution is what a share shows of an execution.
type SharedExecution struct {
	// Same as in Execution.
	ID         string `json:"id"`
	AgentName  string `json:"agent_name"`
	AgentIndex int    `json:"agent_index"`
	// State when it was read.
	Status Status `json:"status"`
}

// Shared returns what a share shows of the session.
func (d SessionDetail) Shared() SharedSession {
	shared := SharedSession{
		ID: d.ID, AlertType: d.AlertType, AlertFacts: d.AlertFacts, ChainID: d.ChainID, Status: d.Status,
		FinalAnalysis: d.FinalAnalysis, ExecutiveSummary: d.ExecutiveSummary, Outcome: d.Outcome, Verdict: d.Verdict,
		ErrorCode: d.ErrorCode, ErrorMessage: d.ErrorMessage, ConcludedEarly: d.ConcludedEarly,
		CreatedAt: d.CreatedAt, StartedAt: d.StartedAt, CompletedAt: d.CompletedAt, Stages: []SharedStage{},
	}

	for _, stage := range d.Stages {
		if stage.StageType == StageChat {
			continue
		}

		s := SharedStage{
			ID: stage.ID, StageName: stage.StageName, StageType: stage.StageType, StageIndex: stage.StageIndex, Status: stage.Status,
			StartedAt: stage.StartedAt, CompletedAt: stage.CompletedAt, Executions: []SharedExecution{},
		}
		for _, e := range stage.Executions {
			s.Executions = append(s.Executions, SharedExecution{ID: e.ID, AgentName: e.AgentName, AgentIndex: e.AgentIndex, Status: e.Status})
		}

		shared.Stages = append(shared.Stages, s)
	}

	return shared
}

// Shows reports whether the share shows a timeline event: one that belongs to the investigation, or to no stage but is not a question.
func (s SharedSession) Shows(event TimelineEvent) bool {
	if event.StageID == nil {
		return event.EventType != EventUserQuestion
	}

	for _, stage := range s.Stages {
		if stage.ID == *event.StageID {
			return true
		}
	}

	return false
}
