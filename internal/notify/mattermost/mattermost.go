// Package mattermost posts messages to a Mattermost incoming webhook.
package mattermost

import (
	"context"
	"encoding/json"
	"net/http"
	"regexp"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxText limits a text: Mattermost splits posts longer than 16,383 characters.
	maxText  = 8000
	maxTitle = 300
	fence    = "```"
	// gap is an invisible character that breaks up mentions.
	gap = "\u200b"
)

// Delivery posts messages. It implements outgoing.Delivery.
type Delivery struct {
	Client *http.Client
	// URL is the URL of the webhook, which is a secret. Header is sent with each request.
	URL    string
	Header http.Header
	// Template replaces the text below the title; nil means everything known.
	Template *message.Template
}

// Concerns implements outgoing.Delivery.
func (*Delivery) Concerns(tarsy.Session) bool { return true }

// Deliver implements outgoing.Delivery. Mattermost does not detect duplicates: after an attempt without a response, a message
// may appear twice.
func (d *Delivery) Deliver(ctx context.Context, p outgoing.Parcel) error {
	text, err := d.text(p.Message)
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	body, err := json.Marshal(map[string]any{"text": text})
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	return outgoing.Post(ctx, d.Client, d.URL, d.Header, p, body)
}

// text returns the whole message in Markdown.
func (d *Delivery) text(m message.Message) (string, error) {
	parts := []string{"**" + literal(plaintext.Cut(m.Headline()+": "+m.Title, maxTitle)) + "**"}

	if d.Template != nil {
		text, err := d.Template.Render(message.WithTexts(m, inert))
		if err != nil {
			return "", err
		}

		parts = append(parts, cut(string(text)))
	} else {
		parts = append(parts, known(m)...)
	}

	if m.URL != "" {
		parts = append(parts, "["+m.LinkTitle()+"](<"+m.URL+">)")
	}

	return strings.Join(parts, "\n\n"), nil
}

// known returns everything known about the session as paragraphs.
func known(m message.Message) []string {
	var parts []string

	if facts := m.Facts(); len(facts) > 0 {
		parts = append(parts, literal(plaintext.Cut(strings.Join(facts, " · "), maxTitle)))
	}

	var lines []string
	for _, l := range m.Conclusion() {
		lines = append(lines, "**"+l.Name+":** "+literal(l.Text)+" ("+literal(l.Caution)+")")
	}

	if len(lines) > 0 {
		parts = append(parts, strings.Join(lines, "\n"))
	}

	if m.Event == message.ApprovalNeeded {
		arguments := strings.ReplaceAll(plaintext.Clean(string(m.Approval.Arguments)), "`", "ˋ")

		parts = append(parts, literal(plaintext.Cut(m.Approval.Asks(), maxTitle)), cut(fence+"json\n"+arguments)+"\n"+fence,
			"The request expires at "+m.Approval.ExpiresAt+".")
	}

	if text := m.Text(); text != "" {
		parts = append(parts, cut(inert(text)))
	}

	return parts
}

// cut truncates a text, and closes a code block that is cut.
func cut(text string) string {
	short := plaintext.Cut(text, maxText)
	if len(short) == len(text) {
		return text
	}

	if strings.Count(short, fence)%2 == 1 {
		short += "\n" + fence
	}

	return short + "\n\nThe text is longer than what is posted here."
}

// mention matches mentions, which notify people, and hashtags, which become searches.
var mention = regexp.MustCompile(`[@#](\w)`)

// inert returns a Markdown text without mentions.
func inert(text string) string {
	return mention.ReplaceAllStringFunc(message.Inert(text), func(found string) string { return found[:1] + gap + found[1:] })
}

// literal returns a text on one line with all Markdown escaped.
func literal(text string) string {
	var out strings.Builder

	for _, r := range inert(strings.Join(strings.Fields(text), " ")) {
		if strings.ContainsRune("\\`*_~|>#[]()!$:-+", r) {
			out.WriteByte('\\')
		}

		out.WriteRune(r)
	}

	return out.String()
}
