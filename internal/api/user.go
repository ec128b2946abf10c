package api

import (
	"net/http"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/auth"
)

// Users configures users without a key. Their groups determine their roles.
type Users struct {
	// Proxy accepts the users that trusted proxies name.
	Proxy bool
	// Issuer is the issuer whose users can log in with OpenID Connect; empty if there is none.
	Issuer string
	// Groups are the groups that have a role, by role.
	Groups map[tarsy.AccessRole][]string
	// Default is the role of users in none of these groups; empty means that they are refused.
	Default tarsy.AccessRole
}

// role returns the strongest role of the groups.
func (u *Users) role(groups []string) tarsy.AccessRole {
	strongest := u.Default

	for _, role := range tarsy.AccessRoles() {
		has := slices.ContainsFunc(u.Groups[role], func(group string) bool { return slices.Contains(groups, group) })
		if has && role.Includes(strongest) || has && strongest == "" {
			strongest = role
		}
	}

	return strongest
}

// acceptsUser reports whether the caller is a user named by a trusted proxy, on a server that accepts them. A caller with an invalid
// API key gets an error instead of acting as another user. Other bearer tokens are the proxy's.
func (g *guard) acceptsUser(r *http.Request, who *caller) bool {
	secret, sent := bearer(r)

	return g.required && g.users != nil && g.users.Proxy && who.named && who.key == nil && who.user() == nil && (!sent || !auth.MayBeSecret(secret))
}

// forwardedGroups returns the groups of the user, as the proxy lists them.
func forwardedGroups(r *http.Request) []string {
	var groups []string

	for group := range strings.SplitSeq(strings.Join(r.Header.Values("X-Forwarded-Groups"), ","), ",") {
		if group = strings.TrimSpace(group); group != "" {
			groups = append(groups, group)
		}
	}

	return groups
}
