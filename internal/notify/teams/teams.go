// Package teams posts messages to Microsoft Teams: Adaptive Cards, sent to a workflow that posts to a chat or a channel when it
// receives a webhook request.
package teams

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/plaintext"
)

const (
	// maxCard is below the limit of Teams for a message, 28 KB.
	maxCard = 26_000
	// maxText and maxLines limit a text before that.
	maxText  = 8000
	maxLines = 80
	maxTitle = 300
)

// Delivery posts cards. It implements outgoing.Delivery.
type Delivery struct {
	Client *http.Client
	// URL is the URL of the workflow, which is a secret. Header is sent with each request.
	URL    string
	Header http.Header
	// Template replaces the text below the title; nil means everything known.
	Template *message.Template
}

// Concerns implements outgoing.Delivery.
func (*Delivery) Concerns(tarsy.Session) bool { return true }

// Deliver implements outgoing.Delivery. Teams does not detect duplicates: after an attempt without a response, a message may
// appear twice.
func (d *Delivery) Deliver(ctx context.Context, p outgoing.Parcel) error {
	body, err := d.payload(p.Message)
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	return outgoing.Post(ctx, d.Client, d.URL, d.Header, p, body)
}

// payload returns the message with a card that fits the limit.
func (d *Delivery) payload(m message.Message) ([]byte, error) {
	for limit := maxText; ; limit /= 2 {
		made, err := d.card(m, limit)
		if err != nil {
			return nil, err
		}

		body, err := json.Marshal(post{Type: "message", Attachments: []attachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: made}}})
		if err != nil || len(body) <= maxCard || limit == 0 {
			return body, err
		}
	}
}

type post struct {
	Type        string       `json:"type"`
	Attachments []attachment `json:"attachments"`
}

type attachment struct {
	ContentType string `json:"contentType"`
	Content     card   `json:"content"`
}

type card struct {
	Schema  string   `json:"$schema"`
	Type    string   `json:"type"`
	Version string   `json:"version"`
	Body    []block  `json:"body"`
	Actions []action `json:"actions,omitempty"`
}

// block is a TextBlock, which renders Markdown, or a RichTextBlock, which shows text verbatim.
type block struct {
	Type    string `json:"type"`
	Spacing string `json:"spacing,omitempty"`
	Text    string `json:"text,omitempty"`
	Wrap    bool   `json:"wrap,omitempty"`
	Inlines []run  `json:"inlines,omitempty"`
}

type run struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Size     string `json:"size,omitempty"`
	Weight   string `json:"weight,omitempty"`
	FontType string `json:"fontType,omitempty"`
	IsSubtle bool   `json:"isSubtle,omitempty"`
}

type action struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

// card renders a message; its long texts are cut to limit bytes.
func (d *Delivery) card(m message.Message, limit int) (card, error) {
	c := card{
		Schema: "http://adaptivecards.io/schemas/adaptive-card.json", Type: "AdaptiveCard", Version: "1.4",
		Body: []block{literal("", run{Text: plaintext.Cut(m.Headline()+": "+m.Title, maxTitle), Size: "Medium", Weight: "Bolder"})},
	}

	if m.URL != "" {
		c.Actions = []action{{Type: "Action.OpenUrl", Title: m.LinkTitle(), URL: m.URL}}
	}

	if d.Template != nil {
		text, err := d.Template.Render(message.WithTexts(m, message.Inert))
		c.Body = append(c.Body, markdown(string(text), limit)...)

		return c, err
	}

	if facts := m.Facts(); len(facts) > 0 {
		c.Body = append(c.Body, literal("Small", run{Text: plaintext.Cut(strings.Join(facts, " · "), maxTitle), IsSubtle: true}))
	}

	for _, l := range m.Conclusion() {
		c.Body = append(c.Body, literal("Small", run{Text: l.Name + ": ", Weight: "Bolder"}, run{Text: l.Text + " (" + l.Caution + ")"}))
	}

	if m.Event == message.ApprovalNeeded {
		c.Body = append(c.Body, literal("Small", run{Text: plaintext.Cut(m.Approval.Asks(), maxTitle)}))
		c.Body = append(c.Body, lines(string(m.Approval.Arguments), limit, func(line string) block {
			return literal("None", run{Text: line, FontType: "Monospace"})
		})...)
		c.Body = append(c.Body, literal("Small", run{Text: "The request expires at " + m.Approval.ExpiresAt + ".", IsSubtle: true}))
	}

	c.Body = append(c.Body, markdown(message.Inert(m.Text()), limit)...)

	return c, nil
}

// literal shows texts verbatim.
func literal(spacing string, runs ...run) block {
	for i := range runs {
		runs[i].Type = "TextRun"
		runs[i].Text = string(plaintext.EscapeInvisible([]byte(plaintext.Clean(runs[i].Text))))
	}

	return block{Type: "RichTextBlock", Spacing: spacing, Inlines: runs}
}

// markdown renders a Markdown text.
func markdown(text string, limit int) []block {
	return lines(text, limit, func(line string) block { return block{Type: "TextBlock", Spacing: "Small", Text: line, Wrap: true} })
}

// lines returns one block per line: Teams renders a single line break as a space.
func lines(text string, limit int, show func(line string) block) []block {
	var all []block

	cut := plaintext.Cut(text, limit)
	whole := len(cut) == len(text)

	for line := range strings.Lines(cut) {
		if len(all) == maxLines {
			whole = false

			break
		}

		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			all = append(all, show(line))
		}
	}

	if !whole {
		all = append(all, literal("Small", run{Text: "The text is longer than what is posted here.", IsSubtle: true}))
	}

	return all
}
