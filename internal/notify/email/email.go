// Package email sends messages by e-mail.
package email

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/plaintext"
)

// maxSubject is the maximum length of the subject in characters: mail programs show fewer.
const maxSubject = 200

// Encryption is how a connection to an SMTP server is encrypted.
type Encryption string

// With StartTLS, the connection is encrypted before anything else is sent, or not used at all.
const (
	StartTLS    Encryption = "starttls"
	ImplicitTLS Encryption = "implicit"
	NoTLS       Encryption = "none"
)

var errPassword = errors.New("the password for the SMTP server is not set")

// Delivery sends mail through an SMTP server. It implements outgoing.Delivery.
type Delivery struct {
	Host string
	Port int
	TLS  Encryption
	// Username is empty if the server requires no login.
	Username, Password string
	// Roots are the trusted certificate authorities; nil means those of the system.
	Roots *x509.CertPool
	From  *mail.Address
	// To receives a single message.
	To []*mail.Address
	// Subject and Text are the templates of the message.
	Subject, Text *message.Template
}

// Concerns implements outgoing.Delivery.
func (*Delivery) Concerns(tarsy.Session) bool { return true }

// Deliver implements outgoing.Delivery.
func (e *Delivery) Deliver(ctx context.Context, p outgoing.Parcel) error {
	if e.Username != "" && e.Password == "" {
		return errPassword
	}

	raw, err := e.compose(p.Message, p.DueAt)
	if err != nil {
		return &outgoing.UnsendableError{Err: err}
	}

	err = e.send(ctx, raw)
	if _, accepted := errors.AsType[*outgoing.PartlyError](err); err != nil && !accepted && ctx.Err() != nil {
		return fmt.Errorf("could not send: %w", context.Cause(ctx)) // the connection was closed because ctx is done
	}

	return err
}

// compose formats a message as RFC 5322. It depends only on data that does not change after the event, so all attempts send the
// same message.
func (e *Delivery) compose(m message.Message, date time.Time) ([]byte, error) {
	text, err := e.Text.Render(m)
	if err != nil {
		return nil, err
	}

	subject, err := e.Subject.Render(m)
	if err != nil {
		return nil, err
	}

	mail := gomail.NewMsg(gomail.WithNoDefaultUserAgent(), gomail.WithEncoding(gomail.EncodingQP))
	mail.FromMailAddress(e.From)
	mail.ToMailAddress(e.To...)
	mail.Subject(headerText(string(subject)))
	mail.SetDateWithValue(date.UTC())

	// A recipient that remembers IDs recognizes a duplicate by its ID. All messages of a session reply to the same nonexistent
	// message, so that mail programs group them.
	thread := "<session." + m.SessionID + "@" + e.domain() + ">"

	mail.SetMessageIDWithValue(m.ID + "@" + e.domain())
	mail.SetGenHeader(gomail.HeaderInReplyTo, thread)
	mail.SetGenHeader(gomail.HeaderReferences, thread)

	// Suppress vacation messages.
	mail.SetGenHeader("Auto-Submitted", "auto-generated")
	mail.SetGenHeader("X-Auto-Response-Suppress", "All")
	mail.SetGenHeader("X-Tarsy-Delivery", m.ID)
	mail.SetGenHeader("X-Tarsy-Event", string(m.Event))
	mail.SetBodyString(gomail.TypeTextPlain, bodyText(string(text)))

	var raw bytes.Buffer

	if _, err := mail.WriteTo(&raw); err != nil {
		return nil, err
	}

	return raw.Bytes(), nil
}

// domain returns the domain of the sender.
func (e *Delivery) domain() string {
	return e.From.Address[strings.LastIndexByte(e.From.Address, '@')+1:]
}

// headerText reduces a text to one header line without line breaks or invisible characters.
func headerText(text string) string {
	visible := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case plaintext.Invisible(r):
			return -1
		default:
			return r
		}
	}, plaintext.Clean(text))

	return plaintext.Cut(strings.Join(strings.Fields(visible), " "), maxSubject)
}

// bodyText makes invisible characters in a text visible.
func bodyText(text string) string {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(plaintext.Clean(text))

	return strings.TrimRight(string(plaintext.EscapeInvisible([]byte(text))), "\n") + "\n"
}
