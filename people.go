package tarsy

import (
	"slices"
	"time"
)

// Person is who does something. People see the name; what belongs to whom is decided by the identity, because others may have the same name.
type Person struct {
	// As in Session.Author.
	Name string
	// The id of an API key, "user:" with the user of a login or a proxy, "discord:" or "slack:" with the id of the user there. Empty for callers
	// without any, where no key is required: then the name decides.
	ID string
}

// Visibility is which sessions somebody sees. The zero value sees all of them.
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

// Values are the teams of visible sessions, including the empty one; nil means any.
func (v Visibility) Values() []string {
	if !v.Limited {
		return nil
	}

	return append([]string{""}, v.Teams...)
}

// Scope is what an API key may do.
type Scope string

// The scopes of API keys: read sees everything, write also submits and cancels, admin also manages keys.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// AccessRole is what a person or program may do. Each includes those before it.
type AccessRole string

// The roles: a viewer sees everything, a responder also submits, asks, cancels and deletes, an admin also manages keys and the server.
const (
	RoleViewer    AccessRole = "viewer"
	RoleResponder AccessRole = "responder"
	RoleAdmin     AccessRole = "admin"
)

// AccessRoles lists the roles, weakest first.
func AccessRoles() []AccessRole { return []AccessRole{RoleViewer, RoleResponder, RoleAdmin} }

// Includes reports whether whoever has the role may do what needs another one. No role includes nothing.
func (r AccessRole) Includes(needed AccessRole) bool {
	return slices.Index(AccessRoles(), needed) >= 0 && slices.Index(AccessRoles(), r) >= slices.Index(AccessRoles(), needed)
}

// Role is the role that a scope stands for; they correspond one to one. It is empty for a scope that does not exist.
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

// Scope is the scope of an API key that has the role; empty for a role that does not exist.
func (r AccessRole) Scope() Scope {
	for _, scope := range []Scope{ScopeRead, ScopeWrite, ScopeAdmin} {
		if scope.Role() == r {
			return scope
		}
	}

	return ""
}

// APIKey is a stored key. Only a hash of its secret is stored, outside of this struct.
type APIKey struct {
	// UUIDv7, chosen when the key is issued.
	ID string `json:"id"`
	// Who or what uses the key, at most 100 characters. Recorded as author unless a trusted proxy
	// reports a user. Need not be unique.
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
	// Nil if the key does not expire. From this time on it is refused.
	ExpiresAt *time.Time `json:"expires_at"`
	// Teams whose sessions the key sees where sessions are visible by team; empty means all. An admin sees all in any case.
	Teams []string `json:"teams"`
}

// Active reports whether the key is accepted at a time.
func (k APIKey) Active(at time.Time) bool { return k.RevokedAt == nil && !k.Expired(at) }

// Expired reports whether the key's time is over.
func (k APIKey) Expired(at time.Time) bool { return k.ExpiresAt != nil && !at.Before(*k.ExpiresAt) }

// How long a share may be used, and how many a session can have that may be used.
const (
	DefaultShareLife = 7 * 24 * time.Hour
	MaxShareLife     = 90 * 24 * time.Hour
	MaxShares        = 100
)

// Share lets anybody who has its secret read one session until it expires. The secret is shown once, when the share is created.
type Share struct {
	// UUIDv7.
	ID string `json:"id"`
	// The session that can be read.
	SessionID string `json:"session_id"`
	// Who created it.
	Author string `json:"author"`
	// When it was created and when it ends.
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
	// Nil unless somebody revoked it.
	RevokedAt *time.Time `json:"revoked_at"`
	// When it was used last; nil if it was never used.
	LastUsedAt *time.Time `json:"last_used_at"`
	// How often it was used.
	Uses int64 `json:"uses"`
}

// SharedSession is what a share shows of a session. It has neither its prompts, nor its alert's text, nor what it cost, nor its chat.
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
	// Those of the investigation, ordered by StageIndex; empty, not nil.
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

// Shows reports whether a share of the session shows a timeline event: those of the investigation, and those of no stage.
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
