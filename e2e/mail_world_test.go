package e2e

import (
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/smtp"
	"tarsy.dev/tarsy/internal/kit/wait"
)

// mailbox is an SMTP server that keeps the mail it receives.
type mailbox struct {
	*smtp.Server

	t   testing.TB
	got chan smtp.Mail
}

// newMailbox returns a mailbox that accepts mail, except where fault objects; nil means no faults.
func newMailbox(t testing.TB, fault func(command, argument string) string) *mailbox {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	m := &mailbox{t: t, got: make(chan smtp.Mail, 100)}
	m.Server = smtp.Serve(listener, smtp.Config{
		Users: map[string]string{"tarsy": "password-of-the-test"}, Fault: fault, Accepted: func(mail smtp.Mail) { m.got <- mail },
	})
	t.Cleanup(func() { require.NoError(t, m.Close()) })

	return m
}

// target returns the configuration of a target that sends mail to the mailbox.
func (m *mailbox) target(more string) string {
	return fmt.Sprintf("{type: email, from: 'TARSy <tarsy@example.org>', to: [oncall@example.org], "+
		"smtp: {host: 127.0.0.1, port: %d, tls: none, username: tarsy, password_env: SMTP_PASSWORD}, %s}", m.Addr().Port, more)
}

func (m *mailbox) Env() map[string]string {
	return map[string]string{"SMTP_PASSWORD": "password-of-the-test"}
}

// readMail is a mail as a mail program shows it.
type readMail struct {
	mail.Header

	Subject, Text string
}

// next returns the next mail.
func (m *mailbox) next() readMail {
	m.t.Helper()

	got := wait.For(m.t, m.got, "a mail")

	parsed, err := mail.ReadMessage(strings.NewReader(got.Data))
	require.NoError(m.t, err)

	text, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	require.NoError(m.t, err)

	subject, err := new(mime.WordDecoder).DecodeHeader(parsed.Header.Get("Subject"))
	require.NoError(m.t, err)

	return readMail{parsed.Header, subject, string(text)}
}
