package config

import "slices"

// Auth is system.auth.
type Auth struct {
	Proxy       bool       `yaml:"proxy" doc:"Accept the users that system.trusted_proxies name (X-Forwarded-User or X-Forwarded-Email) without an API key. Their groups (X-Forwarded-Groups, comma-separated) determine their role. See docs/api.md."`
	OIDC        OIDC       `yaml:"oidc" doc:"Browser login with OpenID Connect. See docs/login.md."`
	Roles       RoleGroups `yaml:"roles" doc:"Groups by role; a user gets the most powerful role that matches."`
	DefaultRole string     `yaml:"default_role" doc:"Role of users in none of these groups; none denies access." enum:"none,viewer,responder,admin" default:"none"`

	Visibility string              `yaml:"visibility" doc:"Who can see a session: everyone with a role (all), or only admins and members of its team (team). Sessions without a team are visible to everyone with a role. See docs/api.md." enum:"all,team" default:"all"`
	Teams      map[string][]string `yaml:"teams" doc:"Groups by team; a user is a member of every team with one of their groups. API keys have their own teams."`
}

// RoleGroups is system.auth.roles.
type RoleGroups struct {
	Admin     []string `yaml:"admin" doc:"Groups that can also manage keys and the server."`
	Responder []string `yaml:"responder" doc:"Groups that can also submit, ask, cancel and delete."`
	Viewer    []string `yaml:"viewer" doc:"Groups that can read everything."`
}

// DefaultRoleNone rejects users without a role.
const DefaultRoleNone = "none"

// VisibilityTeam limits sessions to members of their team.
const VisibilityTeam = "team"

// ByTeam reports whether sessions are visible by team.
func (a Auth) ByTeam() bool { return a.Visibility == VisibilityTeam }

// checkAuth rejects settings for users that cannot exist, or under which all users would be rejected.
func (c *Config) checkAuth() []Problem {
	if problems := c.checkOIDC(); len(problems) > 0 {
		return problems
	}

	a := c.System.Auth
	users := a.Proxy || a.OIDC.Enabled()
	groups := slices.Concat(a.Roles.Admin, a.Roles.Responder, a.Roles.Viewer)

	switch {
	case !a.ByTeam() && len(a.Teams) > 0:
		return []Problem{c.problem("system.auth.visibility", "must be team for teams to have an effect", "everybody with a role sees all sessions")}
	case a.Proxy && len(c.System.TrustedProxies) == 0:
		return []Problem{c.problem("system.trusted_proxies", "is required", "the addresses of the proxies whose users system.auth.proxy accepts")}
	case users && len(groups) == 0 && a.DefaultRole == DefaultRoleNone:
		return []Problem{c.problem("system.auth.roles", "no user would have a role", "list groups, or set system.auth.default_role")}
	case !users && (len(groups) > 0 || a.DefaultRole != DefaultRoleNone):
		return []Problem{c.problem("system.auth.proxy", "must be true, or system.auth.oidc.issuer set, for roles to have an effect", "API keys have their scopes instead")}
	default:
		return nil
	}
}
