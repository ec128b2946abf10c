package writeback_test

import (
	"context"
	"crypto/tls"
	"io"
	"mime"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/certtest"
	"tarsy.dev/tarsy/internal/kit/mock/smtp"
	"tarsy.dev/tarsy/internal/notify/email"
	"tarsy.dev/tarsy/internal/notify/message"
	"tarsy.dev/tarsy/internal/notify/outgoing"
	"tarsy.dev/tarsy/internal/writeback"
)

func serveMail(t *testing.T, cfg smtp.Config) *smtp.Server {
	t.Helper()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	server := smtp.Serve(listener, cfg)
	t.Cleanup(func() { require.NoError(t, server.Close()) })

	return server
}

// mailTo returns a target that sends mail through a server.
func mailTo(t *testing.T, server *smtp.Server, change func(*email.Delivery)) writeback.Target {
	t.Helper()

	body, err := message.Parse(message.DefaultEmail, false)
	require.NoError(t, err)
	subject, err := message.Parse(message.DefaultSubject, false)
	require.NoError(t, err)

	delivery := &email.Delivery{
		Host: "127.0.0.1", Port: server.Addr().Port, TLS: email.NoTLS, Subject: subject, Text: body,
		From: &mail.Address{Name: "TARSy", Address: "tarsy@example.org"},
		To:   []*mail.Address{{Address: "oncall@example.org"}, {Name: "Zoë", Address: "zoe@example.org"}},
	}
	if change != nil {
		change(delivery)
	}

	return writeback.Target{Delivery: delivery, Timeout: patience}
}

// sendMail makes one attempt, as a job does.
func sendMail(t *testing.T, target writeback.Target, m message.Message) error {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), target.Timeout)
	defer cancel()

	return target.Delivery.Deliver(ctx, outgoing.Parcel{Message: m, DueAt: time.Now()})
}

// checkLogin logs in to the server of a target.
func checkLogin(t *testing.T, target writeback.Target) error {
	t.Helper()

	return target.Delivery.(*email.Delivery).CheckLogin(t.Context())
}

// read parses a mail and decodes its text.
func read(t *testing.T, m smtp.Mail) (mail.Header, string) {
	t.Helper()

	parsed, err := mail.ReadMessage(strings.NewReader(m.Data))
	require.NoError(t, err, m.Data)

	text, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	require.NoError(t, err)

	return parsed.Header, string(text)
}

func subjectOf(t *testing.T, header mail.Header) string {
	t.Helper()

	subject, err := new(mime.WordDecoder).DecodeHeader(header.Get("Subject"))
	require.NoError(t, err)

	return subject
}

func TestEmailHasTheHeadersThatMailProgramsUse(t *testing.T) {
	t.Parallel()

	server := serveMail(t, smtp.Config{})
	f := newFixture(t, mailTo(t, server, nil))
	a := f.announce(tarsy.AlertFacts{Title: "Größe überschritten", Severity: tarsy.SeverityHigh, Team: "storage"})[0]
	f.clock.Advance(time.Hour) // however late it is sent, it has the time of the event
	f.start()
	f.awaitState(a.ID, tarsy.AnnouncementSent)

	sent := server.Mails()
	require.Len(t, sent, 1)
	require.Equal(t, "tarsy@example.org", sent[0].From)
	require.Equal(t, []string{"oncall@example.org", "zoe@example.org"}, sent[0].To)

	header, text := read(t, sent[0])
	require.Equal(t, "[TARSy] Investigation completed: Größe überschritten", subjectOf(t, header))
	require.Equal(t, "<"+a.ID+"@example.org>", header.Get("Message-Id"))
	require.Equal(t, "<session."+a.SessionID+"@example.org>", header.Get("In-Reply-To"))
	require.Equal(t, header.Get("In-Reply-To"), header.Get("References"))
	require.Equal(t, "auto-generated", header.Get("Auto-Submitted"))
	require.Equal(t, "text/plain; charset=UTF-8", header.Get("Content-Type"))
	require.Equal(t, "finished", header.Get("X-Tarsy-Event"))
	require.Equal(t, a.ID, header.Get("X-Tarsy-Delivery"))
	require.Equal(t, `"TARSy" <tarsy@example.org>`, header.Get("From"))
	require.Empty(t, header.Get("User-Agent"))

	to, err := header.AddressList("To")
	require.NoError(t, err)
	require.Equal(t, "Zoë", to[1].Name)

	date, err := header.Date()
	require.NoError(t, err)
	require.WithinDuration(t, a.CreatedAt, date, time.Second)
	require.Equal(t, "Größe überschritten\n\nSeverity: high\nTeam: storage\nStatus: completed\n", text)
}

func TestHostileTextEndsNoHeaderOfAnEmail(t *testing.T) {
	t.Parallel()

	for name, title := range map[string]string{
		"line breaks":   "Disk full\r\nBcc: evil@example.net\r\n\r\nNot the body",
		"bare breaks":   "Disk full\nBcc: evil@example.net\rCc: evil@example.net",
		"other breaks":  "Disk full\u2028Bcc: evil@example.net\u0085Cc: evil@example.net\vTo: evil@example.net",
		"an encoded":    "=?utf-8?q?Disk=0D=0ABcc:_evil@example.net?=",
		"one long word": strings.Repeat("x", 5000),
		"long in UTF-8": strings.Repeat("ä ", 5000),
		"directions":    "Disk \u202efull\u2066",
		"the end":       "Disk full\r\n.\r\nMAIL FROM:<evil@example.net>\r\n",
		"only blanks":   "\r\n \r\n",
		"null":          "Disk\x00full",
		"invalid UTF-8": "Disk \xff\xfe full",
		"template":      "{{.Analysis}}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			server := serveMail(t, smtp.Config{})
			target := mailTo(t, server, nil)
			target.Name = "mail"

			m := message.Message{
				ID: "a", SessionID: "s", Event: message.Finished, Status: tarsy.SessionCompleted, Title: title, Summary: title + "\n.\n..\n" + strings.Repeat("y", 3000),
			}
			require.NoError(t, sendMail(t, target, m))

			sent := server.Mails()
			require.Len(t, sent, 1)
			require.Len(t, sent[0].To, 2)

			header, text := read(t, sent[0])
			require.Empty(t, header.Get("Bcc"))
			require.Empty(t, header.Get("Cc"))
			require.Len(t, header["To"], 1)
			require.LessOrEqual(t, len([]rune(subjectOf(t, header))), 200)
			require.NotContains(t, subjectOf(t, header), "\u202e")
			require.NotContains(t, text, "\u202e")
			require.Contains(t, text, "\n.\n..\nyyy", "dots arrive as they were")

			for line := range strings.SplitSeq(sent[0].Data, "\n") {
				require.LessOrEqual(t, len(line), 300, "servers may refuse lines of more than 998 bytes")
				require.NotContains(t, line, "\r")
			}
		})
	}
}

func TestRepliesOfTheMailServerDecideAboutRetries(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		command, reply string
		state          tarsy.AnnouncementState
		want           string
	}{
		"busy":            {"connect", "421 too busy", tarsy.AnnouncementSent, "the SMTP server responded with 421 to the connection: too busy"},
		"greylisted":      {"RCPT", "451 later\nhunter2", tarsy.AnnouncementSent, "the SMTP server responded with 451 to RCPT TO:<oncall@example.org>: later"},
		"not stored":      {".", "452 disk full", tarsy.AnnouncementSent, "the SMTP server responded with 452 to the message: disk full"},
		"cut off":         {"MAIL", smtp.Close, tarsy.AnnouncementSent, "EOF"},
		"sender refused":  {"MAIL", "553 not you hunter2", tarsy.AnnouncementFailed, "the SMTP server responded with 553 to MAIL: not you ***"},
		"message refused": {".", "554 spam", tarsy.AnnouncementFailed, "the SMTP server responded with 554 to the message: spam"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var faults atomic.Int32

			server := serveMail(t, smtp.Config{Fault: func(command, _ string) string {
				if command == test.command && faults.Add(1) == 1 {
					return strings.Split(test.reply, "\n")[0]
				}

				return ""
			}})
			f := newFixture(t, mailTo(t, server, nil))
			a := f.announce(tarsy.AlertFacts{})[0]
			f.start()

			settled := f.awaitState(a.ID, test.state)
			require.Equal(t, test.want, settled.Error)
			require.Equal(t, 1, settled.Attempts)

			if test.state == tarsy.AnnouncementSent {
				require.Len(t, server.Mails(), 1)
			} else {
				require.Empty(t, server.Mails())
				f.awaitJobs("cancelled 1")
			}
		})
	}
}

// The server has accepted the mail, but TARSy does not know it.
func TestMailWithoutReplyIsSentAgainWithTheSameID(t *testing.T) {
	t.Parallel()

	var ends atomic.Int32

	server := serveMail(t, smtp.Config{Fault: func(command, _ string) string {
		if command == "." && ends.Add(1) == 1 {
			return smtp.Close
		}

		return ""
	}})
	f := newFixture(t, mailTo(t, server, nil))
	a := f.announce(tarsy.AlertFacts{Title: "Disk full"})[0]
	f.start()
	f.awaitState(a.ID, tarsy.AnnouncementSent)

	sent := server.Mails()
	require.Len(t, sent, 2)
	require.Equal(t, sent[0], sent[1], "to the byte, so that receivers recognize it")
}

func TestRefusedRecipientDoesNotKeepMailFromOthers(t *testing.T) {
	t.Parallel()

	server := serveMail(t, smtp.Config{Fault: func(command, argument string) string {
		if command == "RCPT" && strings.Contains(argument, "oncall") {
			return "550 no such mailbox"
		}

		return ""
	}})
	f := newFixture(t, mailTo(t, server, nil))
	a := f.announce(tarsy.AlertFacts{})[0]
	f.start()

	sent := f.awaitState(a.ID, tarsy.AnnouncementSent)
	require.Equal(t, "not delivered to everybody: the SMTP server responded with 550 to RCPT TO:<oncall@example.org>: no such mailbox", sent.Error)
	require.Equal(t, []string{"zoe@example.org"}, server.Mails()[0].To)

	nobody := newFixture(t, mailTo(t, server, func(e *email.Delivery) { e.To = e.To[:1] }))
	a = nobody.announce(tarsy.AlertFacts{})[0]
	nobody.start()
	require.Contains(t, nobody.awaitState(a.ID, tarsy.AnnouncementFailed).Error, "550")
}

func TestMailIsSentEncryptedAndLoggedIn(t *testing.T) {
	t.Parallel()

	authority := certtest.New(t)
	pair := authority.Issue(t)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)

	encrypted := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	users := map[string]string{"tarsy": "hunter2"}
	trusted := func(mode email.Encryption) func(e *email.Delivery) {
		return func(e *email.Delivery) {
			e.TLS, e.Roots, e.Username, e.Password = mode, authority.Pool(), "tarsy", "hunter2"
		}
	}
	m := message.Message{ID: "a", SessionID: "s", Event: message.Finished, Title: "Disk full"}

	for name, cfg := range map[string]smtp.Config{
		"STARTTLS":       {TLS: encrypted, Users: users},
		"STARTTLS LOGIN": {TLS: encrypted, Users: users, Mechanisms: []string{"LOGIN"}},
		"implicit":       {TLS: encrypted, Implicit: true, Users: users},
	} {
		mode := email.StartTLS
		if cfg.Implicit {
			mode = email.ImplicitTLS
		}

		server := serveMail(t, cfg)
		target := mailTo(t, server, trusted(mode))

		require.NoError(t, checkLogin(t, target), name)
		require.Empty(t, server.Mails(), "nothing is sent to look")
		require.NoError(t, sendMail(t, target, m), name)
		require.Equal(t, "tarsy", server.Mails()[0].User)
		require.True(t, server.Mails()[0].Encrypted)

		untrusted := mailTo(t, server, func(e *email.Delivery) { e.TLS = mode })
		require.ErrorContains(t, sendMail(t, untrusted, m), "certificate", name)

		wrong := mailTo(t, server, func(e *email.Delivery) {
			trusted(mode)(e)
			e.Password = "wrong"
		})
		require.EqualError(t, checkLogin(t, wrong), "the SMTP server responded with 535 to AUTH: 5.7.8 wrong user name or password", name)
		require.Len(t, server.Mails(), 1)
	}

	// An attacker removed the offer to encrypt: neither the mail nor the password is sent.
	stripped := serveMail(t, smtp.Config{Users: users})
	require.EqualError(t, sendMail(t, mailTo(t, stripped, trusted(email.StartTLS)), m), "the SMTP server does not offer STARTTLS")
	require.Empty(t, stripped.Mails())

	other := serveMail(t, smtp.Config{TLS: encrypted, Users: users, Mechanisms: []string{"GSSAPI"}})
	require.EqualError(t, checkLogin(t, mailTo(t, other, trusted(email.StartTLS))), "the SMTP server offers no login with PLAIN or LOGIN")
}

func TestMailServerThatIsSilentIsLeftAfterTheTimeout(t *testing.T) {
	t.Parallel()

	hold := make(chan struct{})
	server := serveMail(t, smtp.Config{Fault: func(command, _ string) string {
		if command == "DATA" {
			<-hold
		}

		return ""
	}})

	t.Cleanup(func() { close(hold) })

	target := mailTo(t, server, nil)
	target.Timeout = 100 * time.Millisecond
	require.EqualError(t, sendMail(t, target, message.Message{ID: "a", SessionID: "s"}), "could not send: context deadline exceeded")
}
