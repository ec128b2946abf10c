// Package pagerduty adds notes to the PagerDuty incidents that alerts came from.
package pagerduty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
)

const (
	// maxNotes limits how much of an incident's notes is read.
	maxNotes = 4 << 20
	// clockSkew is the tolerated lag of PagerDuty's clock.
	clockSkew = 5 * time.Minute
)

var errToken = errors.New("the token of the PagerDuty API is not set")

// Delivery adds notes. It implements outgoing.Delivery.
type Delivery struct {
	Client *http.Client
	// API is the base URL, Token the API key, From the address of the user in whose name notes are written.
	API, Token, From string
	// Header is sent with each request. It may contain secrets.
	Header http.Header
	// Note is the template of the text.
	Note *message.Template
}

// Concerns implements outgoing.Delivery: only incidents can have notes.
func (*Delivery) Concerns(session tarsy.Session) bool { return incidentOf(session) != "" }

// Deliver implements outgoing.Delivery.
func (d *Delivery) Deliver(ctx context.Context, p outgoing.Parcel) error {
	if d.Token == "" {
		return errToken
	}

	text, err := d.Note.Render(p.Message)
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	if p.Again {
		if written, err := d.hasNote(ctx, p, text); written || err != nil {
			return err
		}
	}

	body, err := json.Marshal(map[string]any{"note": note{Content: string(text)}})
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	request, err := outgoing.NewRequest(ctx, d.notes(p.Session), p, body)
	if err != nil {
		return err
	}

	d.authorize(request)

	_, err = outgoing.Do(d.Client, request, outgoing.MaxReply, p.Now)

	return err
}

// note is a note on an incident in PagerDuty's API.
type note struct {
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// notes returns the URL of the notes of a session's incident.
func (d *Delivery) notes(session tarsy.Session) string {
	return strings.TrimSuffix(d.API, "/") + "/incidents/" + url.PathEscape(incidentOf(session)) + "/notes"
}

func (d *Delivery) authorize(request *http.Request) {
	request.Header.Set("Accept", "application/vnd.pagerduty+json;version=2")
	request.Header.Set("Authorization", "Token token="+d.Token)
	request.Header.Set("From", d.From)
	outgoing.SetHeaders(request, d.Header)
}

// incidentOf returns the ID of the PagerDuty incident that an alert came from, or "". The receiver stores it as a label; it is
// also the last element of the incident page's URL.
func incidentOf(session tarsy.Session) string {
	if session.Source != tarsy.SourcePagerDuty {
		return ""
	}

	if id := session.Labels["incident_id"]; id != "" {
		return id
	}

	for _, link := range session.Links {
		if at, err := url.Parse(link.URL); err == nil && link.Kind == tarsy.LinkIncident && strings.Contains(at.Path, "/incidents/") {
			return path.Base(at.Path)
		}
	}

	return ""
}

// hasNote reports whether the incident already has the note. PagerDuty has no idempotency keys: after an attempt whose outcome
// is unknown, its list of notes must be searched.
func (d *Delivery) hasNote(ctx context.Context, p outgoing.Parcel, text []byte) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.notes(p.Session), nil)
	if err != nil {
		return false, &outgoing.UnsendableError{Err: err}
	}

	d.authorize(request)

	raw, err := outgoing.Do(d.Client, request, maxNotes, p.Now)
	if err != nil {
		return false, err
	}

	var list struct {
		Notes []note `json:"notes"`
	}

	if err := json.Unmarshal(raw, &list); err != nil {
		return false, fmt.Errorf("read the notes of the incident: %w", err)
	}

	return slices.ContainsFunc(list.Notes, func(n note) bool {
		return strings.TrimSpace(n.Content) == strings.TrimSpace(string(text)) && n.CreatedAt.After(p.CreatedAt.Add(-clockSkew))
	}), nil
}
