// Package smtp is an SMTP server for tests and experiments: it accepts mail, keeps it and delivers nothing. Faults are
// scripted: any command can get another reply, no reply, or a closed connection.
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
	// From and To are the envelope addresses.
	From string
	To   []string
	// Data is the message with its headers. Lines end with LF.
	Data string
	// User is the user who logged in; empty without a login.
	User string
	// Encrypted reports whether the connection was encrypted.
	Encrypted bool
}

// Close is a reply that closes the connection instead.
const Close = "close"

// Config configures a server. All of it is optional.
type Config struct {
	// TLS offers STARTTLS. With Implicit, connections are encrypted from the start.
	TLS      *tls.Config
	Implicit bool
	// Users maps user names to passwords. Without any, the server offers no login.
	Users map[string]string
	// Mechanisms are the login mechanisms offered; the default is PLAIN and LOGIN.
	Mechanisms []string
	// Fault returns a reply to send instead of executing a command: a line such as "451 try again", Close, or "" for no fault.
	// The command "connect" is the greeting, and "." the end of a message: with Close, the message is accepted but the client
	// does not learn it. Fault may block, and connections call it concurrently.
	Fault func(command, argument string) string
	// Accepted is called with each message, after it is in Mails and before the client learns of it.
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

// Serve starts accepting connections.
func Serve(listener net.Listener, cfg Config) *Server {
	if len(cfg.Mechanisms) == 0 {
		cfg.Mechanisms = []string{"PLAIN", "LOGIN"}
	}

	s := &Server{cfg: cfg, listener: listener, open: map[net.Conn]struct{}{}}
	s.serving.Go(s.accept)

	return s
}

// Addr returns the address that the server listens on.
func (s *Server) Addr() *net.TCPAddr { return s.listener.Addr().(*net.TCPAddr) } //nolint:forcetypeassert // it listens on TCP

// Mails returns the messages so far.
func (s *Server) Mails() []Mail { return s.mails.List() }

func (s *Server) keepMail(mail Mail) {
	s.mails.Add(mail)

	if s.cfg.Accepted != nil {
		s.cfg.Accepted(mail)
	}
}

// Close closes all connections and waits for them.
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

// keep registers a connection; it reports false if the server has been closed.
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

	if faulty, keepOpen := d.faulty("connect", ""); faulty && !keepOpen || !faulty && !d.reply("220 mock ESMTP") {
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

// use starts using a connection, which may be the previous one with encryption.
func (d *dialogue) use(conn net.Conn) {
	d.conn = conn
	d.text = textproto.NewConn(conn)
}
