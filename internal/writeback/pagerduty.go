package writeback

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
)

const (
	// maxNotes bounds what is read of the notes of an incident.
	maxNotes = 4 << 20
	// clockSkew is how far PagerDuty's clock may be behind.
	clockSkew = 5 * time.Minute
)

// PagerDuty is where incidents are.
type PagerDuty struct {
	// API is the base URL, Token the key of the API, From the address of a user in whose name notes are written.
	API, Token, From string
}

// note is a note on an incident, as PagerDuty has it.
type note struct {
	Content   string    `json:"content"`
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// notes is the address of the notes of a session's incident.
func (p *PagerDuty) notes(session tarsy.Session) string {
	return strings.TrimSuffix(p.API, "/") + "/incidents/" + url.PathEscape(incidentOf(session)) + "/notes"
}

func (p *PagerDuty) header() http.Header {
	header := http.Header{}
	header.Set("Accept", "application/vnd.pagerduty+json;version=2")
	header.Set("Authorization", "Token token="+p.Token)
	header.Set("From", p.From)

	return header
}

// incidentOf is the ID of the PagerDuty incident that an alert came from, or empty. The receiver keeps it as a label; the address
// of the incident's page ends with it too.
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

// hasNote reports whether the incident has the note already. PagerDuty knows no idempotency keys: after an attempt whose outcome is
// unknown, only its list of notes tells.
func (t Target) hasNote(ctx context.Context, client *http.Client, m message.Message, session tarsy.Session, since, now time.Time) (bool, error) {
	body, err := t.Body.Render(m)
	if err != nil {
		return false, &unsendable{err}
	}

	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.PagerDuty.notes(session), nil)
	if err != nil {
		return false, &unsendable{withoutURL(err)}
	}

	request.Header = t.PagerDuty.header()

	raw, err := do(client, request, maxNotes, now)
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
		return strings.TrimSpace(n.Content) == strings.TrimSpace(string(body)) && n.CreatedAt.After(since.Add(-clockSkew))
	}), nil
}
