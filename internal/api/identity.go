package api

import (
	"crypto/sha256"
	"encoding/hex"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
)

// userTarget is what the audit log calls a user of OpenID Connect; the id is their subject.
const userTarget = "user"

// user is who logged the browser in with OpenID Connect; nil if nobody did.
func (c *caller) user() *postgres.BrowserUser {
	if c.browser == nil {
		return nil
	}

	return c.browser.User
}

// hasLogin reports whether the caller has a key or a browser session, which can end.
func (c *caller) hasLogin() bool { return c.key != nil || c.user() != nil }

// identity is what limits are counted by: the id of the key, or something of its own for each user. It is empty for callers who are neither.
// The name of a user would not do: somebody else may choose the same.
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

// person is who the caller is where something belongs to a person. A proxy may send one key for all its users, so whom it names beside a key counts too.
func (c *caller) person() tarsy.Person {
	id := c.identity()

	if c.key != nil && c.named {
		id += "/user:" + c.author
	}

	return tarsy.Person{Name: c.author, ID: id}
}

// recognizeBrowser takes key or user from the caller's browser session. The session of a user counts while their issuer is configured, and the
// role is that of now.
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
