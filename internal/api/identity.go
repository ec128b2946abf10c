package api

import (
	"crypto/sha256"
	"encoding/hex"

	"tarsy.dev/tarsy"
	accountstore "tarsy.dev/tarsy/internal/postgres/account"
)

// userTarget is the audit log's target type for an OpenID Connect user; the id is their subject.
const userTarget = "user"

// user returns the OpenID Connect user of the browser session; nil if there is none.
func (c *caller) user() *accountstore.BrowserUser {
	if c.browser == nil {
		return nil
	}

	return c.browser.User
}

// hasLogin reports whether the caller has a key or a user's browser session, both of which can end.
func (c *caller) hasLogin() bool { return c.key != nil || c.user() != nil }

// identity returns what limits are counted by: the id of the key, or a unique name for each user. It is empty for callers who have
// neither. The name of a user is not unique: another user may choose the same.
func (c *caller) identity() string {
	const length = 16

	switch user := c.user(); {
	case c.key != nil:
		return c.key.ID
	case user != nil:
		sum := sha256.Sum256([]byte(user.Issuer + "\x00" + user.Subject))

		return "user:" + hex.EncodeToString(sum[:length])
	case c.role != "":
		return "user:" + c.author
	default:
		return ""
	}
}

// person returns the caller as the owner of things that belong to a person. A proxy may send one key for all its users, so the user
// that it names in addition to a key counts too.
func (c *caller) person() tarsy.Person {
	id := c.identity()

	if c.key != nil && c.named {
		id += "/user:" + c.author
	}

	return tarsy.Person{Name: c.author, ID: id}
}

// recognizeBrowser takes key or user from the caller's browser session. A user's session is valid while their issuer is configured; the
// role is derived from the current configuration.
func (g *guard) recognizeBrowser(who *caller) {
	if user := who.user(); user != nil && (g.users == nil || g.users.Issuer != user.Issuer) {
		who.browser = nil
	}

	if who.browser == nil {
		return
	}

	who.key = who.browser.Key

	if user := who.user(); user != nil {
		who.groups, who.claimedTeams = user.Groups, user.Teams
		who.role = g.users.role(who.groups)
	}
}
