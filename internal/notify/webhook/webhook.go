// Package webhook posts messages to other systems.
package webhook

import (
	"context"
	"net/http"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
)

// Delivery posts to a URL. It implements outgoing.Delivery.
type Delivery struct {
	Client *http.Client
	// URL is where to post, Header is sent with each request. Both may contain secrets.
	URL    string
	Header http.Header
	// Body is the template of the body.
	Body *message.Template
}

// Concerns implements outgoing.Delivery.
func (*Delivery) Concerns(tarsy.Session) bool { return true }

// Deliver implements outgoing.Delivery.
func (d *Delivery) Deliver(ctx context.Context, p outgoing.Parcel) error {
	body, err := d.Body.Render(p.Message)
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	request, err := outgoing.NewRequest(ctx, d.URL, p, body)
	if err != nil {
		return err
	}

	outgoing.SetHeaders(request, d.Header)
	request.Header.Set("Idempotency-Key", p.Message.ID)

	_, err = outgoing.Do(d.Client, request, outgoing.MaxReply, p.Now)

	return err
}
