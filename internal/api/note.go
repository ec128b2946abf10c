package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"tarsy.dev/tarsy/internal/limit"
	"tarsy.dev/tarsy/notebook"
)

// noteRequest is the body of a capture.
type noteRequest struct {
	Content   string              `doc:"The text, at most 64 KiB. Optional with source session; the default is then the session's final analysis." json:"content,omitempty"`
	Source    notebook.NoteSource `doc:"Where the note is captured." json:"source"`
	SessionID string              `doc:"The session that the note is about; required with source session." json:"session_id,omitempty"`
}

type captureInput struct {
	Key idempotencyKey `doc:"A unique key of your choice. Repeating the request with the same key returns the note that the first one captured." header:"Idempotency-Key" maxLength:"255"`
}

type noteInput struct {
	ID string `doc:"The id of a note." path:"id"`
}

type captureOutput struct {
	Status   int
	Location string `doc:"URL of the note." header:"Location"`
	Body     noteCaptured
}

type noteOutput struct{ Body noteCaptured }

type noteCaptured struct {
	Note notebook.Note `json:"note"`
}

type noteDetailOutput struct{ Body notebook.NoteDetail }

type noteListInput struct {
	Statuses  string     `doc:"Statuses, separated by commas." query:"status"`
	Source    string     `doc:"Exactly this source." query:"source"`
	SessionID identifier `doc:"Notes about this session." query:"session_id"`
	Search    search     `doc:"Words in the text." query:"q"`
	Limit     integer    `doc:"Maximum number of notes per page." query:"limit"`
	Cursor    cursor     `doc:"The next_cursor of the previous page." query:"cursor"`
}

type noteListOutput struct{ Body noteList }

type noteList struct {
	Notes      []notebook.Note `json:"notes"`
	NextCursor string          `doc:"Cursor of the next page; absent on the last page." json:"next_cursor,omitempty"`
	Total      int             `doc:"Number of notes that match, over all pages." json:"total"`
}

// reprocessRequest is the body that selects notes to process again.
type reprocessRequest struct {
	Since string `doc:"Notes that were captured at this time or later." format:"date-time" json:"since"`
}

type reprocessOutput struct{ Body reprocessAccepted }

type reprocessAccepted struct {
	Count int `doc:"Number of notes that are processed again." json:"count"`
}

// captures limits how many notes are captured with a key, by a user, or from a network if the caller has neither.
type captures struct {
	keys   *limit.Rate
	notice *limit.Notice
}

func (c *captures) allow(ctx context.Context, who *caller, now time.Time) error {
	name, logged := who.remote.network, []any{"address", who.remote.network}
	if identity := who.identity(); identity != "" {
		name = identity
	}

	if who.key != nil {
		name, logged = who.key.ID, []any{"key_id", who.key.ID, "key_name", who.key.Name}
	}

	wait, ok := c.keys.Allow(name, now)
	if ok {
		return nil
	}

	c.notice.Refused(ctx, "note refused, too many with one key", logged...)

	return tooManyAttempts(wait, "Too many notes with this API key. Try again later.")
}

func (n *notes) captureNote(ctx context.Context, in *captureInput) (*captureOutput, error) {
	who := callerOf(ctx)

	err := n.captures.allow(ctx, who, n.clock.Now())
	if err != nil {
		return nil, err
	}

	request, err := readRequest[noteRequest](who.body)
	if err != nil {
		return nil, err
	}

	if request.Source == "" {
		return nil, missing("source", "one of "+listed(names(notebook.NoteSources())))
	}

	if request.SessionID != "" {
		if err := n.teams.checkSession(ctx, who, request.SessionID); err != nil {
			return nil, err
		}
	}

	input := notebook.NoteInput{Content: request.Content, Source: request.Source, SessionID: request.SessionID, Author: who.author}

	input.Idempotency, err = in.Key.identify(who, "capture")
	if err != nil {
		return nil, err
	}

	note, created, err := n.notes.Capture(ctx, input)
	if err != nil {
		return nil, fmt.Errorf("capture note: %w", err)
	}

	out := &captureOutput{Status: http.StatusCreated, Location: "/api/v1/notes/" + note.ID, Body: noteCaptured{Note: note}}
	if !created {
		out.Status = http.StatusOK
	}

	return out, nil
}

func (n *notes) listNotes(ctx context.Context, in *noteListInput) (*noteListOutput, error) {
	query, err := in.query()
	if err != nil {
		return nil, err
	}

	query.Visible = callerOf(ctx).visible

	page, err := n.notes.Notes(ctx, query)
	if err != nil {
		return nil, err
	}

	out := &noteListOutput{Body: noteList{Notes: append([]notebook.Note{}, page.Notes...), Total: page.Total}}

	if page.Next != nil {
		out.Body.NextCursor, err = encodeCursor(page.Next)
	}

	return out, err
}

func (in *noteListInput) query() (query notebook.NoteQuery, err error) {
	if err = readParameters(in, &query); err != nil {
		return query, err
	}

	query.Search = strings.TrimSpace(query.Search)
	query.After, err = readCursor(in.Cursor, validTimeCursor)

	return query, err
}

func (n *notes) getNote(ctx context.Context, in *noteInput) (*noteDetailOutput, error) {
	detail, err := n.notes.Note(ctx, shown(in.ID))
	if err != nil {
		return nil, err
	}

	return &noteDetailOutput{Body: detail}, nil
}

func (n *notes) reprocessNote(ctx context.Context, in *noteInput) (*noteOutput, error) {
	who := callerOf(ctx)

	err := checkNothing(who)
	if err != nil {
		return nil, err
	}

	note, err := n.notes.Reprocess(ctx, shown(in.ID), who.author)
	if err != nil {
		return nil, err
	}

	return &noteOutput{Body: noteCaptured{Note: note}}, nil
}

func (n *notes) reprocessNotes(ctx context.Context, _ *struct{}) (*reprocessOutput, error) {
	who := callerOf(ctx)

	request, err := readRequest[reprocessRequest](who.body)
	if err != nil {
		return nil, err
	}

	if request.Since == "" {
		return nil, missing("since", "a time such as 2026-11-15T10:00:00Z")
	}

	since, err := parseTimeField("since", request.Since)
	if err != nil {
		return nil, err
	}

	count, err := n.notes.ReprocessSince(ctx, since, who.author)
	if err != nil {
		return nil, err
	}

	return &reprocessOutput{Body: reprocessAccepted{Count: count}}, nil
}
