package stream

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/notebook"
)

// maxKnownTeams is how many sessions' visibility is cached per reader.
const maxKnownTeams = 10_000

// TeamOf returns the team of a session. Its error for an unknown session is a *tarsy.Error.
type TeamOf func(ctx context.Context, sessionID string) (string, error)

// sight is which sessions a reader can see. Its cache belongs to the goroutine that follows the feed.
type sight struct {
	visible tarsy.Visibility
	teamOf  TeamOf
	// known caches the visibility of sessions. It never expires, because the team of a session never changes.
	known map[string]bool
}

// check returns a not-found error for a session that the reader may not see.
func (s *sight) check(ctx context.Context, sessionID string) error {
	if !s.visible.Limited || sessionID == "" {
		return nil
	}

	team, err := s.teamOf(ctx, sessionID)
	if err != nil {
		return err
	}

	if !s.visible.Includes(team) {
		return tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %q", sessionID)
	}

	return nil
}

// follows reports whether the reader receives changes of a session.
func (s *sight) follows(ctx context.Context, sessionID string) (bool, error) {
	if !s.visible.Limited {
		return true, nil
	}

	if seen, ok := s.known[sessionID]; ok {
		return seen, nil
	}

	err := s.check(ctx, sessionID)
	if err != nil && tarsy.CodeOf(err) != tarsy.CodeSessionNotFound {
		return false, err
	}

	if len(s.known) == maxKnownTeams {
		clear(s.known)
	}

	s.known[sessionID] = err == nil

	return err == nil, nil
}

// visibleNotes is the journal of notes for a reader who does not see all sessions. Events about hidden sessions are redacted, not left out,
// because events are numbered without gaps.
type visibleNotes struct {
	journal.Reader[tarsy.Event]

	visible tarsy.Visibility
	teamOf  TeamOf
}

// Tail implements journal.Reader.
func (n *visibleNotes) Tail(ctx context.Context, after journal.Position) iter.Seq2[journal.Record[tarsy.Event], error] {
	return n.redact(ctx, n.Reader.Tail(ctx, after))
}

// Backward implements journal.Reader.
func (n *visibleNotes) Backward(ctx context.Context, before journal.Position) iter.Seq2[journal.Record[tarsy.Event], error] {
	return n.redact(ctx, n.Reader.Backward(ctx, before))
}

func (n *visibleNotes) redact(ctx context.Context, records iter.Seq2[journal.Record[tarsy.Event], error]) iter.Seq2[journal.Record[tarsy.Event], error] {
	seen := sight{visible: n.visible, teamOf: n.teamOf, known: map[string]bool{}}

	return func(yield func(journal.Record[tarsy.Event], error) bool) {
		for record, err := range records {
			if err == nil {
				err = seen.redact(ctx, &record.Entry)
			}

			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// redact removes the session, error, tag and author from an event about a note of a hidden session. The note, whose ID remains, does not
// exist for the reader.
func (s *sight) redact(ctx context.Context, event *tarsy.Event) error {
	var payload notebook.NotePayload
	if err := json.Unmarshal(event.Payload, &payload); err != nil {
		return fmt.Errorf("read event of notes: %w", err)
	}

	if payload.SessionID == "" {
		return nil
	}

	visible, err := s.follows(ctx, payload.SessionID)
	if err != nil || visible {
		return err
	}

	payload.SessionID, payload.Error, payload.Tag, payload.Author = "", "", "", ""
	event.Payload = notebook.NewNoteEvent(payload).Payload

	return nil
}
