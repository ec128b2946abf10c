package discord

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The supported types of interactions.
const (
	typeCommand   = 2
	typeComponent = 3
)

// The supported types of callbacks.
const (
	callbackMessage        = 4
	callbackDeferred       = 5
	callbackDeferredUpdate = 6
	callbackUpdate         = 7
)

const (
	// acknowledgeTime is how long the bot may take for its first response.
	acknowledgeTime = 3 * time.Second
	// typeCommandUsed is the type of a message that responds to a command.
	typeCommandUsed = 20
	// ephemeral and loading are flags of responses to interactions.
	ephemeral = 1 << 6
	loading   = 1 << 7
)

var (
	errUnknownInteraction = &apiError{status: http.StatusNotFound, Message: "Unknown interaction", Code: 10062}
	errAcknowledged       = &apiError{status: http.StatusBadRequest, Message: "Interaction has already been acknowledged.", Code: 40060}
)

// interaction is a command or a component that a user used, and the bot's first response.
type interaction struct {
	id, token string
	kind      int
	command   string
	user      *user
	channel   *channel
	source    *Message // with the component
	at        time.Time
	answered  bool
	original  *Message
}

func (w *world) interaction(fits func(i *interaction) bool) *interaction {
	if n := slices.IndexFunc(w.interactions, fits); n >= 0 {
		return w.interactions[n]
	}

	return nil
}

// limitTo makes a response visible only to the user who asked, if the flags request it.
func (m *Message) limitTo(asked *interaction, flags *int) {
	if asked != nil && flags != nil && *flags&ephemeral != 0 {
		m.Ephemeral, m.Flags = asked.user.id, m.Flags|ephemeral
	}
}

// Command runs a command of the bot as a user, in a channel given by name or ID. Options are text, by name; users, channels
// and roles are given by name or ID. A name of several words selects a subcommand. It returns the ID of the interaction.
func (s *Server) Command(channel, by, name string, options map[string]string) (string, error) {
	s.serial.Lock()
	defer s.serial.Unlock()

	u, err := s.world.findUser(by)
	if err != nil {
		return "", fmt.Errorf("command: %w", err)
	}

	c, err := s.world.findChannel(channel)
	if err != nil {
		return "", fmt.Errorf("command: %w", err)
	}

	path := strings.Fields(strings.TrimPrefix(name, "/"))

	m := s.world.findCommand(path, c)
	if m == nil {
		return "", fmt.Errorf("command: the bot has no command %q in %s", name, c.label())
	}

	given := &givenOptions{world: s.world, guild: c.guild, values: options, resolved: map[string]object{}}

	filled, err := given.fill(m.fields["options"], path[1:])
	if err != nil {
		return "", fmt.Errorf("command: %w", err)
	}

	data := object{"id": m.id, "name": m.name(), "type": m.kind(), "options": filled}
	if m.guild != "" {
		data["guild_id"] = m.guild
	}

	if len(given.resolved) > 0 {
		data["resolved"] = given.resolved
	}

	return s.interact(&interaction{kind: typeCommand, command: strings.Join(path, " "), user: u, channel: c}, data), nil
}

// findCommand returns the command that a path selects in a channel: a command of the guild takes precedence over a global
// one.
func (w *world) findCommand(path []string, c *channel) *command {
	if len(path) == 0 {
		return nil
	}

	for _, scope := range slices.Compact([]string{c.guildID(), ""}) {
		for _, m := range w.commandsIn(scope) {
			if m.name() == path[0] {
				return m
			}
		}
	}

	return nil
}

// Click clicks a button, or another component without values, of a message as a user. It returns the ID of the interaction.
func (s *Server) Click(id, by, customID string) (string, error) {
	s.serial.Lock()
	defer s.serial.Unlock()

	u, err := s.world.findUser(by)
	if err != nil {
		return "", fmt.Errorf("click: %w", err)
	}

	m, c := s.world.findMessage(id)
	if m == nil {
		return "", fmt.Errorf("click: there is no message %s", id)
	}

	var components any

	_ = json.Unmarshal(m.Components, &components) // invalid JSON has no matching component

	kind, ok := componentType(components, customID)
	if !ok {
		return "", fmt.Errorf("click: the message has no component %q", customID)
	}

	i := &interaction{kind: typeComponent, user: u, channel: c, source: m}

	return s.interact(i, object{"custom_id": customID, "component_type": kind}), nil
}

// componentType finds a component by its ID, at any depth.
func componentType(value any, customID string) (any, bool) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			if kind, ok := componentType(element, customID); ok {
				return kind, true
			}
		}
	case map[string]any:
		if v["custom_id"] == customID {
			return v["type"], true
		}

		for _, key := range []string{"components", "accessory", "component"} {
			if kind, ok := componentType(v[key], customID); ok {
				return kind, true
			}
		}
	}

	return nil, false
}

// interact sends an interaction to the bot and returns its ID.
func (s *Server) interact(i *interaction, data object) string {
	i.id, i.at = s.world.ids.next(), s.clock.Now()
	i.token = "interaction-" + i.id
	s.world.interactions = append(s.world.interactions, i)

	o := object{
		"id": i.id, "application_id": s.world.bot.id, "type": i.kind, "token": i.token, "version": 1, "data": data, "channel_id": i.channel.id,
		"channel": s.world.channelObject(i.channel), "app_permissions": permissions, "locale": "en-US", "entitlements": []any{}, "context": 1,
		"authorizing_integration_owners": object{"0": "0"}, "attachment_size_limit": 10 << 20,
	}

	if i.source != nil {
		o["message"] = s.world.messageObject(i.source, true)
	}

	if g := i.channel.guild; g != nil {
		o["guild_id"], o["guild_locale"], o["context"] = g.id, "en-US", 0
		o["guild"] = object{"id": g.id, "locale": "en-US", "features": []any{}}
		o["authorizing_integration_owners"] = object{"0": g.id}
	}

	if g := i.channel.guild; g != nil && g.member(i.user.id) != nil {
		member := s.world.memberObject(g.member(i.user.id), true)
		member["permissions"] = permissions
		o["member"] = member
	} else {
		o["user"] = userObject(i.user)
	}

	s.publish(event{name: "INTERACTION_CREATE", guild: i.channel.guildID(), data: o})

	return i.id
}

// permissions are the permissions of every user.
const permissions = "2248473465835073"

// postCallback handles the first response to an interaction.
func (c *call) postCallback() (any, error) {
	i := c.world.interaction(func(i *interaction) bool {
		return i.id == c.PathValue("interaction") && i.token == c.PathValue("token")
	})

	switch {
	case i == nil:
		return nil, errUnknownInteraction
	case i.answered:
		return nil, errAcknowledged
	case c.server.clock.Since(i.at) > acknowledgeTime:
		return nil, errUnknownInteraction
	}

	var request struct {
		Type int            `json:"type"`
		Data messageRequest `json:"data"`
	}
	if err := c.decode(&request); err != nil {
		return nil, err
	}

	if err := c.acknowledge(i, request.Type, &request.Data); err != nil {
		return nil, err
	}

	i.answered = true

	if c.URL.Query().Get("with_response") != "true" {
		return noContent{}, nil
	}

	return object{
		"interaction": object{
			"id": i.id, "type": i.kind, "response_message_id": i.original.ID, "response_message_loading": i.original.Flags&loading != 0,
			"response_message_ephemeral": i.original.Ephemeral != "",
		},
		"resource": object{"type": request.Type, "message": c.world.messageObject(i.original, true)},
	}, nil
}

// acknowledge performs a callback of the given type.
func (c *call) acknowledge(i *interaction, kind int, request *messageRequest) error {
	switch {
	case kind == callbackMessage:
		m, err := c.draft(request)
		if err != nil {
			return err
		}

		c.answerWith(i, m, request.Flags)
	case kind == callbackDeferred:
		c.answerWith(i, &Message{Flags: loading}, request.Flags)
	case kind == callbackDeferredUpdate && i.source != nil:
		i.original = i.source
	case kind == callbackUpdate && i.source != nil:
		if _, err := c.revise(i.source, i.channel, request); err != nil {
			return err
		}

		i.original = i.source
	default:
		return invalidForm("type", "BASE_TYPE_CHOICES", "Interaction callback type is invalid for this interaction")
	}

	return nil
}

// answerWith posts the first response to an interaction.
func (c *call) answerWith(i *interaction, m *Message, flags *int) {
	m.WebhookID, m.asked = c.world.bot.id, i
	if i.kind == typeCommand {
		m.Type = typeCommandUsed
	}

	m.limitTo(i, flags)
	c.server.post(m, i.channel, c.world.bot)
	c.server.record(Action{Kind: KindMessage, Message: m}, i.channel)

	i.original = m
}

// interactionObject describes, in a message, the interaction that it responds to.
func interactionObject(i *interaction) object {
	return object{
		"id": i.id, "type": i.kind, "name": i.command, "user": userObject(i.user), "authorizing_integration_owners": object{"0": i.channel.guildID()},
	}
}

// givenOptions converts the options that a user gives to those of an interaction.
type givenOptions struct {
	world    *world
	guild    *guild
	values   map[string]string
	resolved map[string]object
}

// The types of options that are not just text.
const (
	optionSubcommand = 1
	optionGroup      = 2
	optionInteger    = 4
	optionBoolean    = 5
	optionUser       = 6
	optionChannel    = 7
	optionRole       = 8
	optionNumber     = 10
)

// fill fills in the options that a command declares, under the subcommands of a path.
func (g *givenOptions) fill(declared any, path []string) ([]object, error) {
	list, _ := declared.([]any)
	filled, known := []object{}, map[string]bool{}

	for _, element := range list {
		o, _ := element.(map[string]any)
		name, _ := o["name"].(string)
		number, _ := o["type"].(float64)
		kind := int(number)

		if kind == optionSubcommand || kind == optionGroup {
			if len(path) > 0 && path[0] == name {
				inner, err := g.fill(o["options"], path[1:])

				return []object{{"name": name, "type": kind, "options": inner}}, err
			}

			continue
		}

		text, given := g.values[name]
		known[name] = true

		switch {
		case !given && o["required"] == true:
			return nil, fmt.Errorf("the option %q is required", name)
		case !given:
			continue
		}

		value, err := g.value(kind, text)
		if err != nil {
			return nil, fmt.Errorf("the option %q: %w", name, err)
		}

		filled = append(filled, object{"name": name, "type": kind, "value": value})
	}

	if len(path) > 0 {
		return nil, fmt.Errorf("there is no subcommand %q", path[0])
	}

	for name := range g.values {
		if !known[name] {
			return nil, fmt.Errorf("there is no option %q", name)
		}
	}

	return filled, nil
}

// value converts an option to its type. It also resolves users, channels and roles.
func (g *givenOptions) value(kind int, text string) (any, error) {
	switch kind {
	case optionInteger:
		return strconv.ParseInt(text, 10, 64)
	case optionNumber:
		return strconv.ParseFloat(text, 64)
	case optionBoolean:
		return strconv.ParseBool(text)
	case optionUser:
		u, err := g.world.findUser(text)
		if err != nil {
			return nil, err
		}

		g.resolve("users", u.id, userObject(u))

		if g.guild != nil && g.guild.member(u.id) != nil {
			g.resolve("members", u.id, g.world.memberObject(g.guild.member(u.id), false))
		}

		return u.id, nil
	case optionChannel:
		c, err := g.world.findChannel(text)
		if err != nil {
			return nil, err
		}

		g.resolve("channels", c.id, g.world.channelObject(c))

		return c.id, nil
	case optionRole:
		if g.guild == nil || g.guild.role(text) == nil {
			return nil, errors.New("there is no such role")
		}

		r := g.guild.role(text)
		g.resolve("roles", r.id, roleObject(r))

		return r.id, nil
	default:
		return text, nil
	}
}

func (g *givenOptions) resolve(kind, id string, o object) {
	if g.resolved[kind] == nil {
		g.resolved[kind] = object{}
	}

	g.resolved[kind][id] = o
}
