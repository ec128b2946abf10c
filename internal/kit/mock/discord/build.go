package discord

import (
	"fmt"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// Problem is an error in a setup. Path is its location, such as guilds[0].channels[1].name.
type Problem struct{ Path, Message string }

// String returns the problem on one line.
func (p Problem) String() string { return p.Path + ": " + p.Message }

// Check returns the errors that the types of the fields do not rule out.
func (s *Setup) Check() []Problem {
	_, problems := build(s, time.Time{})

	return problems
}

// builder builds a world from a setup.
type builder struct {
	world    *world
	problems []Problem
	seen     map[string]bool
}

func build(s *Setup, now time.Time) (*world, []Problem) {
	b := &builder{world: &world{ids: &ids{}, begin: now}, seen: map[string]bool{}}

	name := s.Bot
	if name == "" {
		name = "tarsy"
	}

	b.world.bot = &user{id: b.world.ids.next(), name: name, bot: true}
	b.world.users = []*user{b.world.bot}

	for i, u := range s.Users {
		b.user(fmt.Sprintf("users[%d]", i), u)
	}

	guilds := s.Guilds
	if len(guilds) == 0 {
		guilds = []Guild{{Name: "guild", Channels: []Channel{{Name: "general"}}}}
	}

	for i, g := range guilds {
		b.guild(fmt.Sprintf("guilds[%d]", i), g)
	}

	for i, l := range s.RateLimits {
		if !isRoute(l.Route) {
			b.fail(fmt.Sprintf("rate_limits[%d].route", i), "there is no route %q; %s", l.Route, routeHint(l.Route))
		}
	}

	for i, step := range s.Conversation {
		b.step(fmt.Sprintf("conversation[%d]", i), step)
	}

	return b.world, b.problems
}

func (b *builder) fail(path, message string, values ...any) {
	b.problems = append(b.problems, Problem{Path: path, Message: fmt.Sprintf(message, values...)})
}

// id returns the ID given in the setup, or a new one.
func (b *builder) id(path, id string) string {
	if id != "" && !snowflakePattern.MatchString(id) {
		b.fail(path+".id", "an id has 15 to 20 digits")
	}

	if id != "" && b.seen[id] {
		b.fail(path+".id", "the id %s is used twice", id)
	}

	b.seen[id] = true

	return b.world.ids.given(id)
}

func (b *builder) user(path string, u User) {
	if _, err := b.world.findUser(u.Name); err == nil {
		b.fail(path+".name", "there is a user %q already", u.Name)
	}

	b.world.users = append(b.world.users, &user{id: b.id(path, u.ID), name: u.Name, display: u.DisplayName, bot: u.Bot})
}

func (b *builder) guild(path string, source Guild) {
	g := &guild{id: b.id(path, source.ID), name: source.Name}
	// The @everyone role has the ID of the guild.
	g.roles = append(g.roles, &role{id: g.id, name: "@everyone"})

	for i, r := range source.Roles {
		g.roles = append(g.roles, &role{id: b.id(fmt.Sprintf("%s.roles[%d]", path, i), r.ID), name: r.Name})
	}

	g.members = append(g.members, &member{user: b.world.bot})

	for i, m := range source.Members {
		b.member(fmt.Sprintf("%s.members[%d]", path, i), g, m)
	}

	if len(source.Members) == 0 {
		for _, u := range b.world.users[1:] {
			g.members = append(g.members, &member{user: u})
		}
	}

	b.world.guilds = append(b.world.guilds, g)

	for i, c := range source.Channels {
		b.channel(fmt.Sprintf("%s.channels[%d]", path, i), g, c)
	}
}

func (b *builder) member(path string, g *guild, source Member) {
	u, err := b.world.findUser(source.User)
	if err != nil {
		b.fail(path+".user", "%v", err)

		return
	}

	m := &member{user: u, nick: source.Nick}

	for i, name := range source.Roles {
		r := g.role(name)
		if r == nil {
			b.fail(fmt.Sprintf("%s.roles[%d]", path, i), "the guild has no role %q", name)

			continue
		}

		m.roles = append(m.roles, r)
	}

	g.members = append(g.members, m)
}

func (b *builder) channel(path string, g *guild, source Channel) {
	if slices.ContainsFunc(b.world.channels, func(c *channel) bool { return c.name == source.Name }) {
		b.fail(path+".name", "there is a channel %q already; names are unique across guilds here", source.Name)
	}

	kind := map[string]int{"": typeText, "text": typeText, "voice": typeVoice, "announcement": typeAnnouncement}[source.Type]
	b.world.channels = append(b.world.channels, &channel{
		id: b.id(path, source.ID), name: source.Name, topic: source.Topic, kind: kind, guild: g, deny: source.Deny,
	})
}

// step checks that a step does exactly one thing, with existing users and routes. Threads can be created later, so channels
// are not checked.
func (b *builder) step(path string, step Step) {
	if n := len(virtual.Given(step)); n != 1 {
		b.fail(path, "a step does exactly one thing, this one %d", n)
	}

	if step.Say != nil {
		if _, err := b.world.findUser(step.Say.Author); err != nil {
			b.fail(path+".say.author", "%v", err)
		}
	}

	if step.RateLimit != nil && step.RateLimit.Route != "" && !isRoute(step.RateLimit.Route) {
		b.fail(path+".rate_limit.route", "there is no route %q; %s", step.RateLimit.Route, routeHint(step.RateLimit.Route))
	}
}
