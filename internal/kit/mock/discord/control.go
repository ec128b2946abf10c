package discord

import (
	"log/slog"
	"net/http"
	"strconv"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// ControlPath is where people, and tests in other languages, inspect and control the server.
const ControlPath = "/_mock/discord"

// serveControl registers the endpoints below ControlPath.
func (s *Server) serveControl(logger *slog.Logger) {
	virtual.Control{
		Path: ControlPath, Logger: logger, State: s.state, Step: s.postStep,
		Lists: []virtual.List{{Name: "sent", Read: func(*http.Request) any { return s.Sent() }}},
	}.Register(s.mux)
}

// state lists what exists, with IDs, and the progress of the conversation.
type state struct {
	Bot          string            `json:"bot"`
	Token        string            `json:"token"`
	Connected    int               `json:"connected"`
	Connections  []Connection      `json:"connections"`
	Guilds       map[string]string `json:"guilds"`
	Channels     map[string]string `json:"channels"`
	Users        map[string]string `json:"users"`
	Roles        map[string]string `json:"roles"`
	Conversation progress          `json:"conversation"`
}

type progress struct {
	Steps int `json:"steps"`
	Done  int `json:"done"`
	// Failed is why the next step failed.
	Failed string `json:"failed,omitempty"`
}

func (s *Server) state() any {
	s.serial.Lock()
	defer s.serial.Unlock()

	st := state{
		Bot: s.world.bot.id, Token: s.Token(), Connected: s.Connected(), Connections: s.Connections(), Conversation: s.play.progress(),
		Guilds: map[string]string{}, Channels: map[string]string{}, Users: map[string]string{}, Roles: map[string]string{},
	}

	for _, g := range s.world.guilds {
		st.Guilds[g.name] = g.id

		for _, r := range g.roles {
			st.Roles[r.name] = r.id
		}
	}

	for _, c := range s.world.channels {
		st.Channels[c.label()] = c.id
	}

	for _, u := range s.world.users {
		st.Users[u.name] = u.id
	}

	return st
}

// result is the outcome of a step.
type result struct {
	// Message is the message of a say step, Action the action that an expectation found.
	Message *Message `json:"message,omitempty"`
	Action  *Action  `json:"action,omitempty"`
	// Interaction is the ID of the interaction that a command or a click created.
	Interaction string `json:"interaction,omitempty"`
}

// postStep runs one step.
func (s *Server) postStep(r *http.Request) (any, error) {
	after := 0
	if value := r.URL.Query().Get("after"); value != "" {
		var err error
		if after, err = strconv.Atoi(value); err != nil || after < 0 {
			return nil, &tarsy.Error{Code: tarsy.CodeInvalidParameter, Message: "after is the number of an action.", Field: "after"}
		}
	}

	step, err := virtual.ReadStep[Step](r, "say: {channel: general, author: alice, content: hello}")
	if err != nil {
		return nil, err
	}

	var done result

	switch {
	case step.Say != nil:
		m, failed := s.say(*step.Say, &Message{})
		done.Message, err = &m, failed
	case step.Command != nil:
		done.Interaction, err = s.Command(step.Command.Channel, step.Command.User, step.Command.Name, step.Command.Options)
	case step.Click != nil:
		done.Interaction, err = s.Click(step.Click.Message, step.Click.User, step.Click.Component)
	case step.Expect != nil:
		a, failed := s.expect(r.Context(), after, *step.Expect)
		done.Action, err = &a, failed
	default:
		_, err = s.step(r.Context(), after, step)
	}

	if err != nil {
		return nil, tarsy.Errorf(tarsy.CodeConflict, "%s", err.Error())
	}

	return done, nil
}
