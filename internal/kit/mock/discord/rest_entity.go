package discord

import "net/http"

func (c *call) gatewayURL() string { return "ws://" + c.Host + gatewayPath }

func (c *call) getGateway() (any, error) { return object{"url": c.gatewayURL()}, nil }

func (c *call) getGatewayBot() (any, error) {
	return object{
		"url": c.gatewayURL(), "shards": 1,
		"session_start_limit": object{"total": 1000, "remaining": 1000, "reset_after": 86_400_000, "max_concurrency": 1},
	}, nil
}

func (c *call) getBot() (any, error) {
	o := userObject(c.world.bot)
	o["verified"], o["mfa_enabled"], o["flags"], o["email"] = true, false, 0, nil

	return o, nil
}

func (c *call) getBotGuilds() (any, error) {
	return mapped(c.world.guilds, func(g *guild) object {
		return object{"id": g.id, "name": g.name, "icon": nil, "owner": false, "permissions": "2248473465835073", "features": []any{}}
	}), nil
}

func (c *call) getUser() (any, error) {
	u := c.world.userByID(c.PathValue("user"))
	if u == nil {
		return nil, errUnknownUser
	}

	return userObject(u), nil
}

func (c *call) getApplication() (any, error) {
	bot := c.world.bot

	return object{
		"id": bot.id, "name": bot.name, "icon": nil, "description": "", "bot_public": false, "bot_require_code_grant": false, "verify_key": "",
		"flags": 1 << 19, "bot": userObject(bot), "team": nil, "summary": "", "owner": userObject(bot), "hook": true,
	}, nil
}

// postDirectMessages opens the direct message channel with a user.
func (c *call) postDirectMessages() (any, error) {
	var request struct {
		Recipient string `json:"recipient_id"`
	}
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	u := c.world.userByID(request.Recipient)

	switch {
	case u == nil:
		return nil, errUnknownUser
	case u.bot:
		return nil, &apiError{status: http.StatusForbidden, Message: "Cannot send messages to this user", Code: 50007}
	}

	return c.world.channelObject(c.world.directMessages(u)), nil
}

func (c *call) guild() (*guild, error) {
	g := c.world.guildByID(c.PathValue("guild"))
	if g == nil {
		return nil, errUnknownGuild
	}

	return g, nil
}

func (c *call) getGuild() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	o := c.world.guildObject(g)
	if c.URL.Query().Get("with_counts") == "true" {
		o["approximate_member_count"], o["approximate_presence_count"] = len(g.members), len(g.members)
	}

	return o, nil
}

func (c *call) getGuildChannels() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	return mapped(c.world.channelsOf(g, false), c.world.channelObject), nil
}

func (c *call) getGuildRoles() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	return mapped(g.roles, roleObject), nil
}

func (c *call) getGuildMembers() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	return mapped(g.members, func(m *member) object { return c.world.memberObject(m, true) }), nil
}

func (c *call) getGuildMember() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	m := g.member(c.PathValue("user"))
	if m == nil {
		return nil, errUnknownMember
	}

	return c.world.memberObject(m, true), nil
}

func (c *call) getActiveThreads() (any, error) {
	g, err := c.guild()
	if err != nil {
		return nil, err
	}

	var (
		threads = []object{}
		members = []object{}
	)

	for _, t := range c.world.channelsOf(g, true) {
		if t.thread.archived {
			continue
		}

		threads = append(threads, c.world.channelObject(t))
		members = append(members, threadMemberObject(t, c.world.bot))
	}

	return object{"threads": threads, "members": members}, nil
}

func (c *call) getChannel() (any, error) { return c.world.channelObject(c.channel), nil }
