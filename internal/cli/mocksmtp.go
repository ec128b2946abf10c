package cli

import (
	"context"
	"fmt"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/cli/terminal"
	"tarsy.dev/tarsy/internal/kit/mock/smtp"
)

// printedMail is a mail that the mock server received.
type printedMail struct {
	From    string   `json:"from"`
	To      []string `json:"to"`
	Subject string   `json:"subject"`
	Text    string   `json:"text"`
	Raw     string   `json:"raw"`
}

// serveMail accepts and prints mail, if the flag asks for it. It returns the clean-up.
func (m *mockRun) serveMail(ctx context.Context) (end func(), err error) {
	if m.flags.smtp == "" {
		return func() {}, nil
	}

	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", m.flags.smtp)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", m.flags.smtp, err)
	}

	// Connections are served concurrently, but each mail is printed as a whole.
	var printing sync.Mutex

	server := smtp.Serve(listener, smtp.Config{Accepted: func(got smtp.Mail) {
		printing.Lock()
		defer printing.Unlock()

		if err := m.printMail(got); err != nil {
			m.infof("%s", line(err))
		}
	}})
	m.mail = server.Addr().String()

	return func() { _ = server.Close() }, nil
}

func (m *mockRun) printMail(got smtp.Mail) error {
	p := printedMail{From: got.From, To: got.To, Text: got.Data, Raw: got.Data}

	if parsed, err := mail.ReadMessage(strings.NewReader(got.Data)); err == nil {
		p.Subject = parsed.Header.Get("Subject")
		if decoded, err := new(mime.WordDecoder).DecodeHeader(p.Subject); err == nil {
			p.Subject = decoded
		}

		body := parsed.Body
		if strings.EqualFold(parsed.Header.Get("Content-Transfer-Encoding"), "quoted-printable") {
			body = quotedprintable.NewReader(body)
		}

		if text, err := io.ReadAll(body); err == nil {
			p.Text = string(text)
		}
	}

	if m.flags.output.value == formatJSON {
		text, err := encodeJSON(p, "")
		if err != nil {
			return err
		}

		return m.printf("%s\n", text)
	}

	return m.printf("\nMail from %s to %s\nSubject: %s\n\n%s\n", terminal.Line(p.From), terminal.Line(strings.Join(p.To, ", ")), terminal.Line(p.Subject), terminal.Clean(p.Text))
}
