package discord

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	maxCommandsPerScope = 100
	maxDescription      = 100
	maxCommandOptions   = 25
	// chatInput is the type of slash commands; the other types appear in the menus of users and messages.
	chatInput = 1
)

var (
	errApplication    = &apiError{status: http.StatusForbidden, Message: "You are not authorized to perform this action on this application", Code: 20012}
	errMaxCommands    = &apiError{status: http.StatusBadRequest, Message: "Maximum number of application commands reached (100)", Code: 30032}
	errUnknownCommand = &apiError{status: http.StatusNotFound, Message: "Unknown application command", Code: 10063}

	commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}\p{Devanagari}\p{Thai}]+$`)
)

// command is a command that the bot registered in a guild, or in all guilds if guild is empty.
type command struct {
	id, guild string
	// fields is the command as the bot sent it.
	fields object
}

func (m *command) name() string { name, _ := m.fields["name"].(string); return name }

func (m *command) kind() int {
	if kind, ok := m.fields["type"].(float64); ok {
		return int(kind)
	}

	return chatInput
}

func (w *world) commandObject(m *command) object {
	o := object{
		"description": "", "default_member_permissions": nil, "nsfw": false, "integration_types": []int{0}, "contexts": nil, "options": []any{},
	}
	maps.Copy(o, m.fields)

	o["id"], o["application_id"], o["version"], o["type"] = m.id, w.bot.id, m.id, m.kind()
	if m.guild != "" {
		o["guild_id"] = m.guild
	}

	return o
}

// checkCommand returns the error with which Discord rejects a command. at is the path of the command in the request, ending
// with a dot, or empty.
func checkCommand(at string, m *command) error {
	description, _ := m.fields["description"].(string)
	options, _ := m.fields["options"].([]any)
	name, length := m.name(), utf8.RuneCountInString(description)

	switch {
	case name == "":
		return invalidForm(at+"name", "BASE_TYPE_REQUIRED", "This field is required")
	case m.kind() == chatInput && (!commandName.MatchString(name) || strings.ToLower(name) != name), utf8.RuneCountInString(name) > 32:
		return invalidForm(at+"name", "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid")
	case m.kind() == chatInput && length == 0:
		return invalidForm(at+"description", "BASE_TYPE_REQUIRED", "This field is required")
	case length > maxDescription:
		return invalidForm(at+"description", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
	case len(options) > maxCommandOptions:
		return invalidForm(at+"options", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}

	return nil
}

// scope checks the application and the guild of the path, and returns the guild.
func (c *call) scope() (string, error) {
	id := c.PathValue("guild")

	switch {
	case c.PathValue("application") != c.world.bot.id:
		return "", errApplication
	case id != "" && c.world.guildByID(id) == nil:
		return "", errMissingAccess
	}

	return id, nil
}

// commandsIn returns the commands of a guild, or the global ones.
func (w *world) commandsIn(guild string) []*command {
	return slices.DeleteFunc(slices.Clone(w.commands), func(m *command) bool { return m.guild != guild })
}

func (c *call) getCommands() (any, error) {
	scope, err := c.scope()
	if err != nil {
		return nil, err
	}

	return mapped(c.world.commandsIn(scope), c.world.commandObject), nil
}

// postCommand registers a command, replacing one with the same name.
func (c *call) postCommand() (any, error) {
	scope, err := c.scope()
	if err != nil {
		return nil, err
	}

	m := &command{guild: scope}
	if err := c.decode(&m.fields); err != nil {
		return nil, err
	}

	if err := checkCommand("", m); err != nil {
		return nil, err
	}

	if c.world.register(m) {
		return c.world.commandObject(m), nil
	}

	if len(c.world.commandsIn(scope)) > maxCommandsPerScope {
		c.world.commands = c.world.commands[:len(c.world.commands)-1]

		return nil, errMaxCommands
	}

	return created{c.world.commandObject(m)}, nil
}

// register adds a command; it reports whether it replaced one, whose ID it keeps.
func (w *world) register(m *command) bool {
	for i, other := range w.commands {
		if other.guild == m.guild && other.name() == m.name() && other.kind() == m.kind() {
			m.id, w.commands[i] = other.id, m

			return true
		}
	}

	m.id = w.ids.next()
	w.commands = append(w.commands, m)

	return false
}

// putCommands replaces all commands of a guild, or the global ones.
func (c *call) putCommands() (any, error) {
	scope, err := c.scope()
	if err != nil {
		return nil, err
	}

	var sent []object
	if err := c.decode(&sent); err != nil {
		return nil, err
	}

	if len(sent) > maxCommandsPerScope {
		return nil, errMaxCommands
	}

	all := mapped(sent, func(fields object) *command { return &command{guild: scope, fields: fields} })

	for i, m := range all {
		if err := checkCommand(strconv.Itoa(i)+".", m); err != nil {
			return nil, err
		}
	}

	for _, m := range all {
		c.world.register(m)
	}

	c.world.commands = slices.DeleteFunc(c.world.commands, func(m *command) bool { return m.guild == scope && !slices.Contains(all, m) })

	return mapped(all, c.world.commandObject), nil
}

// command returns the command in the path.
func (c *call) command() (*command, error) {
	scope, err := c.scope()
	if err != nil {
		return nil, err
	}

	for _, m := range c.world.commandsIn(scope) {
		if m.id == c.PathValue("command") {
			return m, nil
		}
	}

	return nil, errUnknownCommand
}

func (c *call) getCommand() (any, error) {
	m, err := c.command()
	if err != nil {
		return nil, err
	}

	return c.world.commandObject(m), nil
}

func (c *call) patchCommand() (any, error) {
	m, err := c.command()
	if err != nil {
		return nil, err
	}

	changed := &command{id: m.id, guild: m.guild, fields: maps.Clone(m.fields)}
	if err := c.decode(&changed.fields); err != nil {
		return nil, err
	}

	if err := checkCommand("", changed); err != nil {
		return nil, err
	}

	m.fields = changed.fields

	return c.world.commandObject(m), nil
}

func (c *call) deleteCommand() (any, error) {
	m, err := c.command()
	if err != nil {
		return nil, err
	}

	c.world.commands = slices.DeleteFunc(c.world.commands, func(other *command) bool { return other == m })

	return noContent{}, nil
}
