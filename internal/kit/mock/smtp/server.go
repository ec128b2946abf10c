// Package smtp is an SMTP server for tests and for trying things out: it accepts mail, keeps it and delivers nothing. Faults are scripted: any command
// can get another reply, no reply, or a closed connection.
package smtp

import (
	"crypto/tls"
	"errors"
	"net"
	"net/textproto"
	"strings"
	"sync"

	"tarsy.dev/tarsy/internal/kit/mock/virtual"
)

// Mail is a message that a client sent.
type Mail struct {
	// From and To are the envelope.
	From string
	To   []string
	// Data is the message with its headers. Lines end with LF.
	Data string
	// User is who logged in; empty if nobody did.
	User string
	// Encrypted reports whether the connection was.
	Encrypted bool
}

// Close is a reply that closes the connection instead.
const Close = "close"

// Config is what a server does. All of it is optional.
type Config struct {
	// TLS offers STARTTLS. With Implicit, connections begin encrypted.
	TLS      *tls.Config
	Implicit bool
	// Users are passwords by name. Without any, the server offers no login.
	Users map[string]string
	// Mechanisms are the offered logins; the default is PLAIN and LOGIN.
	Mechanisms []string
	// Fault returns what to reply to a command instead of doing what it asks: a line such as "451 try again", Close, or empty for no fault. "connect" is the
	// greeting, and "." the end of a message: with Close the message is accepted and the client does not learn it. It may block, and connections
	// call it concurrently.
	Fault func(command, argument string) string
	// Accepted is called with each message, which Mails has by then, before the client learns of it.
	Accepted func(mail Mail)
}

// Server is a running server.
type Server struct {
	cfg      Config
	listener net.Listener
	serving  sync.WaitGroup
	mails    virtual.Journal[Mail]

	mu   sync.Mutex
	open map[net.Conn]struct{}
	over bool
}

// Serve begins to accept connections.
func Serve(listener net.Listener, cfg Config) *Server {
	if len(cfg.Mechanisms) == 0 {
		cfg.Mechanisms = []string{"PLAIN", "LOGIN"}
	}

	s := &Server{cfg: cfg, listener: listener, open: map[net.Conn]struct{}{}}
	s.serving.Go(s.accept)

	return s
}

// Addr is where the server listens.
func (s *Server) Addr() *net.TCPAddr { return s.listener.Addr().(*net.TCPAddr) } //nolint:forcetypeassert // it listens on TCP

// Mails returns the messages so far.
func (s *Server) Mails() []Mail { return s.mails.List() }

func (s *Server) keepMail(mail Mail) {
	s.mails.Add(mail)

	if s.cfg.Accepted != nil {
		s.cfg.Accepted(mail)
	}
}

// Close ends all connections and waits for them.
func (s *Server) Close() error {
	err := s.listener.Close()

	s.mu.Lock()
	s.over = true

	for conn := range s.open {
		_ = conn.Close()
	}
	s.mu.Unlock()

	s.serving.Wait()

	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}

			continue
		}

		if s.keep(conn) {
			s.serving.Go(func() {
				defer s.forget(conn)

				s.talk(conn)
			})
		}
	}
}

// keep reports false if the server has ended.
func (s *Server) keep(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.over {
		_ = conn.Close()

		return false
	}

	s.open[conn] = struct{}{}

	return true
}

func (s *Server) forget(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()

	_ = conn.Close()
	delete(s.open, conn)
}

func (s *Server) talk(conn net.Conn) {
	d := &dialogue{server: s}

	if s.cfg.Implicit {
		conn, d.encrypted = tls.Server(conn, s.cfg.TLS), true
	}

	d.use(conn)

	if faulty, goesOn := d.faulty("connect", ""); faulty && !goesOn || !faulty && !d.reply("220 mock ESMTP") {
		return
	}

	for {
		line, err := d.text.ReadLine()
		if err != nil {
			return
		}

		command, argument, _ := strings.Cut(line, " ")
		if !d.command(strings.ToUpper(command), strings.TrimSpace(argument)) {
			return
		}
	}
}

// use begins to talk over a connection, which may be the encrypted form of the one before.
func (d *dialogue) use(conn net.Conn) {
	d.conn = conn
	d.text = textproto.NewConn(conn)
}
