package tarsy

import "time"

// Scope is what an API key may do.
type Scope string

// The scopes of API keys: read sees everything, write also submits and cancels, admin also manages keys.
const (
	ScopeRead  Scope = "read"
	ScopeWrite Scope = "write"
	ScopeAdmin Scope = "admin"
)

// APIKey is a key as it is kept: its secret is only stored as a hash, its prefix is shown to tell keys apart.
type APIKey struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"`
	Scopes     []Scope    `json:"scopes"`
	CreatedAt  time.Time  `json:"created_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}
