package tarsy

import (
	"slices"
	"time"
)

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
