package slack

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// ControlPath is where people, and tests in other languages, inspect and control the server.
const ControlPath = "/_mock/slack"

// Step is one thing that happens: exactly one of its fields is set.
type Step struct {
	Say        *Say        `yaml:"say" doc:"A person sends a message."`
	Click      *Click      `yaml:"click" doc:"A person clicks a button."`
	React      *React      `yaml:"react" doc:"A person adds a reaction to a message."`
	Submit     *Submit     `yaml:"submit" doc:"A person submits the modal that the bot opened."`
	Expect     *Expect     `yaml:"expect" doc:"Waits for a message from the bot."`
	Fault      *Fault      `yaml:"fault" doc:"Makes the next requests fail."`
	Disconnect *Disconnect `yaml:"disconnect" doc:"Closes the Socket Mode connections."`
	LoseAcks   int         `yaml:"lose_acks" doc:"Ignores acknowledgements of the next envelopes, so that they are resent." min:"0"`
	WaitReady  bool        `yaml:"wait_ready" doc:"Waits until a client is connected."`
}

// Say is a message that a person writes.
type Say struct {
	Channel string `yaml:"channel" doc:"The name or ID of the channel." required:"true"`
	User    string `yaml:"user" doc:"The name or ID of the person." required:"true"`
	Text    string `yaml:"text" doc:"The text. <@NAME> mentions by name." required:"true"`
	Thread  string `yaml:"thread" doc:"The timestamp of the message to reply to in its thread."`
}

// Click is a click on a button of a message, or of a modal.
type Click struct {
	Channel string `yaml:"channel" doc:"The name or ID of the channel; without channel and ts, the click is in the person's open modal."`
	User    string `yaml:"user" doc:"The name or ID of the person." required:"true"`
	TS      string `yaml:"ts" doc:"The timestamp of the message."`
	Action  string `yaml:"action" doc:"The action_id of the button." required:"true"`
}

// React is a reaction to a message.
type React struct {
	Channel string `yaml:"channel" doc:"The name or ID of the channel." required:"true"`
	User    string `yaml:"user" doc:"The name or ID of the person." required:"true"`
	TS      string `yaml:"ts" doc:"The timestamp of the message." required:"true"`
	Name    string `yaml:"name" doc:"The name of the emoji, without colons." required:"true"`
}

// Submit is the submission of a modal.
type Submit struct {
	User   string            `yaml:"user" doc:"The name or ID of the person." required:"true"`
	Values map[string]string `yaml:"values" doc:"The entered values, by the block_id of the input."`
}

// Expect waits for a message of the bot.
type Expect struct {
	Channel string        `yaml:"channel" doc:"The name or ID of the channel; by default any."`
	Text    string        `yaml:"text" doc:"A part of the text of the message." required:"true"`
	Within  time.Duration `yaml:"within" doc:"How long to wait." default:"30s" min:"1ms"`
}

// Disconnect is a way to end connections.
type Disconnect struct {
	Graceful bool `yaml:"graceful" doc:"Sends a disconnect message first, as Slack does before a restart; by default the connections just break."`
}

// serveControl registers the endpoints below ControlPath.
func (s *Server) serveControl(logger *slog.Logger) {
	virtual.Control{
		Path: ControlPath, Logger: logger, State: s.state, Step: s.postStep,
		Lists: []virtual.List{
			{Name: "messages", Read: func(r *http.Request) any { return s.Messages(r.URL.Query().Get("channel")) }},
			{Name: "journal", Read: func(r *http.Request) any { return s.Journal(r.URL.Query().Get("method")) }},
			{Name: "modals", Read: func(*http.Request) any { return s.Modals() }},
			{Name: "files", Read: func(*http.Request) any { return s.Files() }},
		},
	}.Register(s.mux)
}

// state returns the existing channels and users, and the state of the connections.
func (s *Server) state() any {
	channels, users := map[string]string{}, map[string]string{}
	for _, c := range s.setup.Channels {
		channels[c.Name] = c.ID
	}

	for _, u := range s.setup.Users {
		users[u.Name] = u.ID
	}

	return object{
		"bot": s.self.ID, "token": s.Token(), "app_token": s.AppToken(), "channels": channels, "users": users,
		"connected": s.Connected(), "opened": s.Opened(), "envelopes": s.Envelopes(),
	}
}

// postStep runs one step.
func (s *Server) postStep(r *http.Request) (any, error) {
	step, err := virtual.ReadStep[Step](r, "say: {channel: general, user: alice, text: hello}")
	if err != nil {
		return nil, err
	}

	result, err := s.step(r.Context(), step)
	if err != nil {
		return nil, tarsy.Errorf(tarsy.CodeConflict, "%s", err.Error())
	}

	return result, nil
}

// step runs a step and returns its outcome.
func (s *Server) step(ctx context.Context, step Step) (any, error) {
	done := object{}

	switch {
	case step.Say != nil:
		m, err := s.Say(step.Say.Channel, step.Say.User, step.Say.Text, step.Say.Thread)

		return object{"message": m}, err
	case step.Click != nil:
		id, err := s.click(*step.Click)

		return object{"envelope_id": id}, err
	case step.React != nil:
		return done, s.React(step.React.Channel, step.React.User, step.React.TS, step.React.Name)
	case step.Submit != nil:
		id, err := s.Submit(step.Submit.User, step.Submit.Values)

		return object{"envelope_id": id}, err
	case step.Expect != nil:
		ctx, cancel := context.WithTimeoutCause(ctx, step.Expect.Within, fmt.Errorf("it did not come within %s", step.Expect.Within))
		defer cancel()

		m, err := s.WaitMessage(ctx, step.Expect.Channel, step.Expect.Text)

		return object{"message": m}, err
	case step.Fault != nil:
		s.Break(*step.Fault)
	case step.Disconnect != nil:
		s.Disconnect(step.Disconnect.Graceful)
	case step.LoseAcks > 0:
		s.LoseAcks(step.LoseAcks)
	case step.WaitReady:
		return done, s.WaitReady(ctx)
	}

	return done, nil
}

// click clicks a button of a message or, without one, of a modal.
func (s *Server) click(c Click) (string, error) {
	if c.Channel == "" && c.TS == "" {
		return s.ClickModal(c.User, c.Action)
	}

	return s.Click(c.Channel, c.User, c.TS, c.Action)
}
