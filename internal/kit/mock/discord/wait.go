package discord

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/kit/mock/match"
)

// Sent is what the bot did so far.
type Sent struct {
	// Messages are the messages that the bot sent, in order, in their current state: with edits, and including deleted
	// ones.
	Messages []Message `json:"messages"`
	// Threads are the threads that the bot created, Typing the channels in which it indicated typing.
	Threads []Thread `json:"threads"`
	Typing  []string `json:"typing"`
	// Actions are all of these and the others, such as reactions, in order.
	Actions []Action `json:"actions"`
}

// Sent returns what the bot did so far.
func (s *Server) Sent() Sent {
	s.serial.Lock()
	defer s.serial.Unlock()

	sent := Sent{Messages: []Message{}, Threads: []Thread{}, Typing: []string{}, Actions: s.journal.List()}

	for _, a := range sent.Actions {
		switch a.Kind {
		case KindMessage:
			sent.Messages = append(sent.Messages, s.world.findSent(a.ChannelID, a.Message.ID).clone())
		case KindThread:
			sent.Threads = append(sent.Threads, *a.Thread)
		case KindTyping:
			sent.Typing = append(sent.Typing, a.Channel)
		}
	}

	return sent
}

// Wait waits until the bot has done something that matches, now or earlier, and returns the first match. reason describes
// the purpose of the wait; it is part of the error, which also lists what the bot did. Expect.Within is not used: ctx
// limits the wait.
func (s *Server) Wait(ctx context.Context, reason string, e Expect) (Action, error) {
	return s.waitAfter(ctx, 0, reason, e)
}

// WaitAction is like Wait, for an action that a function accepts. Its error is the cause of the context.
func (s *Server) WaitAction(ctx context.Context, accepts func(Action) bool) (Action, error) {
	return s.journal.Wait(ctx, 0, accepts)
}

// WaitMessage is like Wait, for a message, or an edit of one, whose content contains a text.
func (s *Server) WaitMessage(ctx context.Context, reason, channel, contains string) (Message, error) {
	a, err := s.Wait(ctx, reason, Expect{Channel: channel, Content: &match.Text{Contains: contains}})
	if err != nil {
		return Message{}, err
	}

	return *a.Message, nil
}

func (s *Server) waitAfter(ctx context.Context, after int, reason string, e Expect) (Action, error) {
	a, err := s.journal.Wait(ctx, after, func(a Action) bool { return s.fits(e, a) })
	if err != nil {
		return Action{}, fmt.Errorf("%s: no %s (%w); %s", reason, e, err, describe(s.journal.List()))
	}

	return a, nil
}

// fits reports whether an action matches an expectation.
func (s *Server) fits(e Expect, a Action) bool {
	if e.Kind != a.Kind && (e.Kind != "" || a.Kind != KindMessage && a.Kind != KindEdit) {
		return false
	}

	if place := strings.TrimPrefix(e.Channel, "#"); place != "" && place != a.Channel && place != a.ChannelID {
		return false
	}

	if e.ReplyTo != "" && (a.Message == nil || a.Message.ReplyTo == "" || e.ReplyTo != a.Message.ReplyTo && e.ReplyTo != a.RepliedAuthor) {
		return false
	}

	return e.Content == nil || e.Content.Fits(a.text())
}

// Connected returns how many clients are identified and connected.
func (s *Server) Connected() int { return s.gateway.connected() }

// Connections returns all connections that were ever made to the gateway, oldest first.
func (s *Server) Connections() []Connection { return s.gateway.connections() }

// WaitReady waits until a client has identified or resumed.
func (s *Server) WaitReady(ctx context.Context) error {
	err := s.gateway.changes.Wait(ctx, func() bool { return s.Connected() > 0 })
	if err != nil {
		return fmt.Errorf("no client is connected (%w); %s", err, s.describeConnections())
	}

	return nil
}

// WaitConnection waits until a connection matches, such as one that resumed, and returns it.
func (s *Server) WaitConnection(ctx context.Context, reason string, fits func(Connection) bool) (found Connection, err error) {
	err = s.gateway.changes.Wait(ctx, func() bool {
		all := s.Connections()

		i := slices.IndexFunc(all, fits)
		if i >= 0 {
			found = all[i]
		}

		return i >= 0
	})
	if err != nil {
		return Connection{}, fmt.Errorf("%s: no connection fits (%w); %s", reason, err, s.describeConnections())
	}

	return found, nil
}

func (s *Server) describeConnections() string {
	return "connections:\n  " + strings.Join(mapped(s.Connections(), Connection.String), "\n  ")
}
