package email

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"github.com/wneessen/go-mail/smtp"

	"tarsy.dev/tarsy/internal/notify/outgoing"
)

var (
	errNoStartTLS = errors.New("the SMTP server does not offer STARTTLS")
	errNoLogin    = errors.New("the SMTP server offers no login with PLAIN or LOGIN")
)

// mailError is an error reply of an SMTP server.
type mailError struct {
	code int
	// during is the rejected command.
	during, reason string
}

// Error implements error.
func (r *mailError) Error() string {
	text := fmt.Sprintf("the SMTP server responded with %d to %s", r.code, r.during)
	if r.reason != "" {
		text += ": " + r.reason
	}

	return text
}

// Permanent reports whether the same message would be rejected again.
func (r *mailError) Permanent() bool { return r.code >= 500 }

// RetryAfter returns zero: SMTP servers do not say how long to wait.
func (*mailError) RetryAfter() time.Duration { return 0 }

// CheckLogin connects to the SMTP server, encrypts the connection and logs in, as for sending, but sends nothing.
func (e *Delivery) CheckLogin(ctx context.Context) error {
	client, done, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer done()

	return refused("QUIT", client.Quit())
}

// send delivers a message. If the connection breaks after the whole message was sent, it is unknown whether the server accepted
// it, and it must be sent again.
func (e *Delivery) send(ctx context.Context, raw []byte) error {
	client, done, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer done()

	// SMTPUTF8 is not needed: the configuration only allows ASCII addresses.
	client.SkipSMTPUTF8(true)

	if err := client.Mail("<" + e.From.Address + ">"); err != nil {
		return refused("MAIL", err)
	}

	left, err := e.recipients(client)
	if err != nil {
		return err
	}

	data, err := client.Data()
	if err != nil {
		return refused("DATA", err)
	}

	if _, err := data.Write(raw); err != nil {
		return refused("the message", err)
	}

	if err := data.Close(); err != nil {
		return refused("the message", err)
	}

	// The message is accepted, whatever happens next.
	_ = client.Quit()

	if len(left) > 0 {
		return &outgoing.PartlyError{Reason: "not delivered to everybody: " + strings.Join(left, "; ")}
	}

	return nil
}

// recipients sends the recipients to the server and returns the reasons for rejected ones. A temporary rejection fails the
// whole message: it is sent later, and no one receives it twice.
func (e *Delivery) recipients(client *smtp.Client) (left []string, err error) {
	for _, to := range e.To {
		err = refused("RCPT TO:<"+to.Address+">", client.Rcpt("<"+to.Address+">"))
		if err == nil {
			continue
		}

		if known, ok := errors.AsType[*mailError](err); !ok || !known.Permanent() {
			return nil, err
		}

		left = append(left, err.Error())
	}

	if len(left) == len(e.To) {
		return nil, err
	}

	return left, nil
}

// connect opens a connection that is encrypted and logged in as configured. The caller must call done after use.
func (e *Delivery) connect(ctx context.Context) (client *smtp.Client, done func(), err error) {
	dialer := &net.Dialer{}

	conn, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(e.Host, strconv.Itoa(e.Port)))
	if err != nil {
		return nil, nil, err
	}

	// Also close the connection when ctx is done, so that nothing waits for an unresponsive server.
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	done = func() {
		stop()
		_ = conn.Close()
	}

	client, err = e.greet(ctx, conn)
	if err != nil {
		done()

		return nil, nil, err
	}

	return client, done, nil
}

func (e *Delivery) greet(ctx context.Context, conn net.Conn) (*smtp.Client, error) {
	secure := &tls.Config{ServerName: e.Host, RootCAs: e.Roots, MinVersion: tls.VersionTLS12}

	if e.TLS == ImplicitTLS {
		encrypted := tls.Client(conn, secure)
		if err := encrypted.HandshakeContext(ctx); err != nil {
			return nil, err
		}

		conn = encrypted
	}

	client, err := smtp.NewClient(conn, e.Host)
	if err != nil {
		return nil, refused("the connection", err)
	}

	if err := client.Hello(e.domain()); err != nil {
		return nil, refused("EHLO", err)
	}

	if e.TLS == StartTLS {
		if offered, _ := client.Extension("STARTTLS"); !offered {
			return nil, errNoStartTLS
		}

		if err := client.StartTLS(secure); err != nil {
			return nil, refused("STARTTLS", err)
		}
	}

	if e.Username == "" {
		return client, nil
	}

	return client, e.login(client)
}

// login authenticates to the server. The password is never sent over a connection that others can read.
func (e *Delivery) login(client *smtp.Client) error {
	_, offered := client.Extension("AUTH")
	mechanisms, readable := strings.Fields(offered), e.TLS == NoTLS && loopback(e.Host)

	for _, known := range []struct {
		name string
		auth smtp.Auth
	}{
		{"PLAIN", smtp.PlainAuth("", e.Username, e.Password, e.Host, readable)},
		{"LOGIN", smtp.LoginAuth(e.Username, e.Password, e.Host, readable)},
	} {
		for _, name := range mechanisms {
			if strings.EqualFold(name, known.name) {
				return refused("AUTH", client.Auth(known.auth))
			}
		}
	}

	return errNoLogin
}

// loopback reports whether a host is the local machine.
func loopback(host string) bool {
	address := net.ParseIP(host)

	return host == "localhost" || address != nil && address.IsLoopback()
}

// refused converts a server's reply to a command into a mailError. Other errors are returned unchanged.
func refused(during string, err error) error {
	if reply, ok := errors.AsType[*textproto.Error](err); ok {
		return &mailError{code: reply.Code, during: during, reason: outgoing.OneLine(reply.Msg)}
	}

	return err
}

// Refused reports whether an error of CheckLogin would occur again.
func Refused(err error) bool {
	return outgoing.Permanent(err) || errors.Is(err, errNoStartTLS) || errors.Is(err, errNoLogin)
}
