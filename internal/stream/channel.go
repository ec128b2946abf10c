package stream

import (
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

// channel is something that a reader follows: a journal, or the feed of all sessions.
type channel struct {
	name string
	// journal is nil for the feed.
	journal journal.Reader[tarsy.Event]
	// sessionID is empty unless the journal belongs to a session. Only sessions have text in flight and an end.
	sessionID string
}

// isFeed reports whether the channel is the feed, which has neither order nor history.
func (ch channel) isFeed() bool { return ch.journal == nil }

// channel finds a channel by its name.
func (h *Hub) channel(name string, visible tarsy.Visibility) (channel, error) {
	switch name {
	case tarsy.ChannelSessions:
		return channel{name: name}, nil
	case notebook.ChannelNotes:
		return h.notesChannel(visible), nil
	}

	id, ok := strings.CutPrefix(name, tarsy.ChannelSessionPrefix)
	if !ok || id == "" {
		return channel{}, tarsy.Errorf(codeUnknownChannel, "the channels are session:<id>, sessions and notes")
	}

	return h.sessionChannel(id)
}

// notesChannel returns the journal of notes, redacted if the reader's visibility is limited.
func (h *Hub) notesChannel(visible tarsy.Visibility) channel {
	if !visible.Limited {
		return channel{name: notebook.ChannelNotes, journal: h.notes}
	}

	return channel{name: notebook.ChannelNotes, journal: &visibleNotes{Reader: h.notes, visible: visible, teamOf: h.teamOf}}
}

// sessionChannel returns the channel of a session's journal. It does not check whether the session exists; the journal's Head does.
func (h *Hub) sessionChannel(id string) (channel, error) {
	if !ident.Valid(id) {
		return channel{}, tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session with this id")
	}

	return channel{name: tarsy.SessionChannel(id), journal: h.journals.Journal(id), sessionID: id}, nil
}
