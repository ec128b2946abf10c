package slack

import (
	"cmp"
	"strings"
)

// email returns the address of a person, which is derived from the name unless the setup has one.
func (u User) email() string { return cmp.Or(u.Email, u.Name+"@example.com") }

// userObject returns a user in Slack's format.
func (s *Server) userObject(u User) object {
	profile := object{"display_name": u.Name, "display_name_normalized": u.Name, "real_name": u.Name, "real_name_normalized": u.Name, "team": teamID}
	if u == s.self {
		profile["api_app_id"], profile["bot_id"] = appID, botID
	} else {
		profile["email"] = u.email()
	}

	return object{
		"id": u.ID, "team_id": teamID, "name": u.Name, "real_name": u.Name, "deleted": false, "tz": "Etc/UTC", "tz_offset": 0,
		"is_bot": u == s.self, "is_app_user": false, "is_admin": false, "is_owner": false, "updated": 1, "profile": profile,
	}
}

func (c *call) userInfo() (object, error) {
	u, err := c.server.user(c.args["user"])
	if err != nil || u.ID != c.args["user"] {
		return nil, refusal("user_not_found")
	}

	return object{"user": c.server.userObject(u)}, nil
}

func (c *call) listUsers() (object, error) {
	all := []object{c.server.userObject(c.server.self)}
	for _, u := range c.server.setup.Users {
		all = append(all, c.server.userObject(u))
	}

	o, err := listed(c, "members", all)
	if err == nil {
		o["cache_ts"] = c.server.clock.Now().Unix()
	}

	return o, err
}

func (c *call) lookupByEmail() (object, error) {
	for _, u := range c.server.setup.Users {
		if strings.EqualFold(u.email(), c.args["email"]) {
			return object{"user": c.server.userObject(u)}, nil
		}
	}

	return nil, refusal("users_not_found")
}
