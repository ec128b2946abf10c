package slack

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Connected returns how many Socket Mode connections are open.
func (s *Server) Connected() int {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()

	return len(s.socket.conns)
}

// Opened returns how many Socket Mode connections have been opened so far.
func (s *Server) Opened() int {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()

	return s.socket.opened
}

// Envelopes returns the envelopes for the app, oldest first.
func (s *Server) Envelopes() []Envelope {
	s.socket.mu.Lock()
	defer s.socket.mu.Unlock()

	all := make([]Envelope, 0, len(s.socket.envelopes))
	for _, e := range s.socket.envelopes {
		all = append(all, *e)
	}

	return all
}

// Journal returns the requests so far; with a method, only those to it.
func (s *Server) Journal(method string) []Request {
	return slices.DeleteFunc(s.journal.List(), func(r Request) bool { return method != "" && r.Method != method })
}

// Wait waits until a condition holds, checking it after every change. what describes the condition for the error.
func (s *Server) Wait(ctx context.Context, what string, holds func() bool) error {
	err := s.changes.Wait(ctx, holds)
	if err != nil {
		return fmt.Errorf("waiting for %s: %w; %s", what, err, s.describe())
	}

	return nil
}

// WaitMessage waits for a message of the bot that shows a text, in the given channel or in any.
func (s *Server) WaitMessage(ctx context.Context, channel, text string) (Message, error) {
	var found Message

	err := s.Wait(ctx, fmt.Sprintf("a message with %q", text), func() bool {
		all := s.Messages(channel)
		i := slices.IndexFunc(all, func(m Message) bool { return m.Bot && strings.Contains(m.Shown(), text) })

		if i >= 0 {
			found = all[i]
		}

		return i >= 0
	})

	return found, err
}

// WaitReady waits until a client is connected.
func (s *Server) WaitReady(ctx context.Context) error {
	return s.Wait(ctx, "a connection", func() bool { return s.Connected() > 0 })
}

// WaitAck waits until an envelope is acknowledged.
func (s *Server) WaitAck(ctx context.Context, id string) (Envelope, error) {
	var found Envelope

	err := s.Wait(ctx, "the acknowledgement of "+id, func() bool {
		for _, e := range s.Envelopes() {
			if e.ID == id && e.Acked {
				found = e
			}
		}

		return found.ID != ""
	})

	return found, err
}

// describe lists the bot's messages.
func (s *Server) describe() string {
	var lines strings.Builder

	lines.WriteString("the bot wrote:")

	for _, m := range s.Messages("") {
		if m.Bot {
			fmt.Fprintf(&lines, "\n  %s %s (thread %s): %.300q", m.Channel, m.TS, m.ThreadTS, m.Shown())
		}
	}

	return lines.String()
}
