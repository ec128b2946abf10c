package discord

import (
	"io"
	"net/http"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/problem"
	"tarsy.dev/tarsy/internal/schema"
)

// ControlPath is where people and tests in other languages see and steer the server.
const ControlPath = "/_mock/discord"

// maxStep is how long a step may be.
const maxStep = 1 << 20

// serveControl registers what is below ControlPath.
func (s *Server) serveControl(mux *http.ServeMux) {
	for pattern, handle := range map[string]func(r *http.Request) (any, error){
		"GET " + ControlPath:             s.getState,
		"GET " + ControlPath + "/sent":   func(*http.Request) (any, error) { return s.Sent(), nil },
		"POST " + ControlPath + "/steps": s.postStep,
	} {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Origin") != "" {
				problem.Write(w, r, s.logger, tarsy.Errorf(tarsy.CodeForbiddenOrigin, "Web pages may not control this server."))

				return
			}

			result, err := handle(r)
			if err != nil {
				problem.Write(w, r, s.logger, err)

				return
			}

			w.Header().Set("Cache-Control", "no-store")
			respond(w, result, nil)
		})
	}

	mux.HandleFunc(ControlPath+"/", func(w http.ResponseWriter, r *http.Request) {
		problem.Write(w, r, s.logger, tarsy.Errorf(tarsy.CodeNotFound,
			"There is no %s %s. Available below %s: GET (the state), GET sent, POST steps.", r.Method, r.URL.Path, ControlPath))
	})
}

// state is what there is, with ids, and how far the conversation is.
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

func (s *Server) getState(*http.Request) (any, error) {
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

	return st, nil
}

// result is what a step led to.
type result struct {
	// Message is what was said, Action what was expected and found.
	Message *Message `json:"message,omitempty"`
	Action  *Action  `json:"action,omitempty"`
	// Interaction is the id of the interaction that a command or a click made.
	Interaction string `json:"interaction,omitempty"`
}

// postStep runs one step, written as in a script: YAML, of which JSON is a part.
func (s *Server) postStep(r *http.Request) (any, error) {
	text, err := io.ReadAll(io.LimitReader(r.Body, maxStep))
	if err != nil {
		return nil, tarsy.Errorf(tarsy.CodeInvalidParameter, "The body could not be read.")
	}

	after := 0
	if value := r.URL.Query().Get("after"); value != "" {
		if after, err = strconv.Atoi(value); err != nil || after < 0 {
			return nil, &tarsy.Error{Code: tarsy.CodeInvalidParameter, Message: "after is the number of an action.", Field: "after"}
		}
	}

	step, err := parseStep(text)
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

// parseStep reads a step, or returns everything that is wrong with it.
func parseStep(text []byte) (Step, error) {
	var step Step

	problems := schema.Read("step", text, &step)

	if n := len(step.kinds()); n != 1 && len(problems) == 0 {
		problems = append(problems, "a step does exactly one thing, such as say: {channel: general, author: alice, content: hello}")
	}

	if len(problems) > 0 {
		return step, tarsy.Errorf(tarsy.CodeInvalidParameter, "%s", strings.Join(problems, "\n"))
	}

	return step, nil
}
