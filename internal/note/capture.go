package note

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/audit"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/plaintext"
	"tarsy.dev/tarsy/notebook"
)

// notQueued is the processing error of a note whose job could not be inserted.
const notQueued = "The note could not be queued. It will be retried."

// Capture stores a note and queues its extraction. created is false if the note was already captured with the same idempotency key.
func (s *Service) Capture(ctx context.Context, input notebook.NoteInput) (note notebook.Note, created bool, err error) {
	if key := input.Idempotency; key != nil {
		// Check this first: the answer to a repeated request does not depend on the session, which may be gone.
		if found, err := s.captured(ctx, key); found != nil || err != nil {
			audit.Unchanged(ctx)

			return valueOf(found), false, err
		}
	}

	note, err = s.prepare(ctx, input)
	if err != nil {
		return notebook.Note{}, false, err
	}

	err = s.cfg.Store.Change(ctx, func(tx *store.Tx) error { return s.insert(ctx, tx, &note, input.Idempotency) })

	switch {
	case err == nil:
		return note, true, nil
	case store.IsTaken(err) && input.Idempotency != nil:
		// Another request captured a note with this key since the lookup and has committed: the insert waited for it.
		audit.Unchanged(ctx)

		found, err := s.captured(ctx, input.Idempotency)
		if found == nil && err == nil {
			err = errors.New("a note with this idempotency key exists and is not found")
		}

		return valueOf(found), false, err
	default:
		return notebook.Note{}, false, fmt.Errorf("store note: %w", err)
	}
}

// captured returns the note that was captured with an idempotency key, or nil.
func (s *Service) captured(ctx context.Context, key *tarsy.IdempotencyKey) (*notebook.Note, error) {
	found, fingerprint, err := store.NoteByKey(ctx, s.cfg.Store.Writer(), key.Hash)

	switch {
	case err != nil:
		return nil, fmt.Errorf("look for the idempotency key: %w", err)
	case found == nil:
		return nil, nil //nolint:nilnil // having none is fine
	case !bytes.Equal(fingerprint, key.Fingerprint):
		return nil, tarsy.FieldErrorf(tarsy.CodeIdempotencyConflict, "Idempotency-Key",
			"another note was captured with this Idempotency-Key: use a new key for a new note")
	default:
		return found, nil
	}
}

func valueOf(n *notebook.Note) notebook.Note {
	if n == nil {
		return notebook.Note{}
	}

	return *n
}

// insert stores a note, its job and its event. The job is inserted in a savepoint: if that fails the note is kept, and the sweep queues it.
func (s *Service) insert(ctx context.Context, tx *store.Tx, n *notebook.Note, key *tarsy.IdempotencyKey) error {
	n.CreatedAt, n.UpdatedAt = tx.Now, tx.Now

	failure := pgx.BeginFunc(ctx, tx, func(savepoint pgx.Tx) error { return s.cfg.Tries.add(ctx, s.cfg.Jobs, savepoint, next(*n)) })
	if failure != nil {
		if ctx.Err() != nil {
			return failure
		}

		s.cfg.Logger.ErrorContext(ctx, "note captured without a job, which is added later", "note_id", n.ID, "error", failure)

		n.ProcessingError = notQueued
	}

	if err := store.InsertNote(ctx, tx, *n, key); err != nil {
		return err
	}

	audit.Target(ctx, n.ID)

	tx.Emit(notebook.NotePayload{
		Type: notebook.TypeNoteCaptured, NoteID: n.ID, SessionID: store.IDText(n.SessionID), Status: string(n.Status), Error: n.ProcessingError,
		Author: n.Author,
	})

	return nil
}

// prepare validates the input and builds the note.
func (s *Service) prepare(ctx context.Context, input notebook.NoteInput) (notebook.Note, error) {
	note := notebook.Note{ID: ident.New(), Source: input.Source, Author: input.Author, Status: notebook.NoteQueued, Version: 1}

	if !slices.Contains(notebook.NoteSources(), input.Source) {
		return note, tarsy.FieldErrorf(tarsy.CodeInvalidField, "source", "source must be one of cli, web, discord, session")
	}

	content := strings.TrimSpace(plaintext.Clean(input.Content))
	if len(content) > notebook.MaxNoteBytes {
		return note, tarsy.FieldErrorf(tarsy.CodeTooLarge, "content", "content is larger than %d bytes: split it into several notes", notebook.MaxNoteBytes)
	}

	if input.SessionID == "" && input.Source == notebook.NoteFromSession {
		return note, tarsy.FieldErrorf(tarsy.CodeMissingField, "session_id", "session_id is missing: source session needs the session")
	}

	if input.SessionID != "" {
		session, err := s.cfg.Session(ctx, input.SessionID)
		if err != nil {
			return note, fmt.Errorf("look for the session: %w", err)
		}

		note.SessionID = &session.ID

		if content == "" && input.Source == notebook.NoteFromSession {
			content, err = analysisOf(session)
			if err != nil {
				return note, err
			}
		}
	}

	if content == "" {
		return note, tarsy.FieldErrorf(tarsy.CodeMissingField, "content", "content is missing: it is the text of the note")
	}

	note.Content = s.cfg.Mask(content)

	return note, nil
}

// analysisOf returns the final analysis of a session that has ended, cut to the size of a note.
func analysisOf(session *tarsy.SessionDetail) (string, error) {
	if !session.Status.Terminal() {
		return "", tarsy.Errorf(tarsy.CodeSessionNotOver, "the session is %s: wait until it is over, or write content", session.Status)
	}

	analysis := strings.TrimSpace(session.FinalAnalysis)
	if analysis == "" {
		return "", tarsy.FieldErrorf(tarsy.CodeMissingField, "content", "the session has no final analysis: write content")
	}

	return plaintext.CutMiddle(analysis, notebook.MaxNoteBytes, "\n\n[…]\n\n"), nil
}
