package smtp

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"strings"
)

// maxMail limits the size of a message.
const maxMail = 32 << 20

// dialogue is one connection. Its goroutine owns it.
type dialogue struct {
	server    *Server
	conn      net.Conn
	text      *textproto.Conn
	encrypted bool
	user      string
	mail      *Mail
}

// faulty reports whether to skip a command because of a fault, and whether the connection continues.
func (d *dialogue) faulty(command, argument string) (faulty, keepOpen bool) {
	if d.server.cfg.Fault == nil {
		return false, true
	}

	switch instead := d.server.cfg.Fault(command, argument); instead {
	case "":
		return false, true
	case Close:
		return true, false
	default:
		return true, d.text.PrintfLine("%s", instead) == nil
	}
}

// command executes a client's command; false ends the connection.
func (d *dialogue) command(command, argument string) bool {
	if faulty, keepOpen := d.faulty(command, argument); faulty {
		return keepOpen
	}

	switch command {
	case "EHLO":
		return d.hello()
	case "HELO", "NOOP":
		return d.reply("250 mock")
	case "STARTTLS":
		return d.startTLS()
	case "AUTH":
		return d.login(argument)
	case "MAIL":
		d.mail = &Mail{From: address(argument), User: d.user, Encrypted: d.encrypted}

		return d.reply("250 OK")
	case "RCPT":
		return d.recipient(argument)
	case "DATA":
		return d.data()
	case "RSET":
		d.mail = nil

		return d.reply("250 OK")
	case "QUIT":
		_ = d.reply("221 bye")

		return false
	default:
		return d.reply("500 unknown command")
	}
}

func (d *dialogue) reply(line string) bool { return d.text.PrintfLine("%s", line) == nil }

func (d *dialogue) hello() bool {
	lines := []string{"mock", "8BITMIME", "SMTPUTF8", fmt.Sprintf("SIZE %d", maxMail)}

	if d.server.cfg.TLS != nil && !d.encrypted {
		lines = append(lines, "STARTTLS")
	}

	if len(d.server.cfg.Users) > 0 {
		lines = append(lines, "AUTH "+strings.Join(d.server.cfg.Mechanisms, " "))
	}

	for i, line := range lines {
		separator := "-"
		if i == len(lines)-1 {
			separator = " "
		}

		if !d.reply("250" + separator + line) {
			return false
		}
	}

	return true
}

func (d *dialogue) startTLS() bool {
	if d.server.cfg.TLS == nil || d.encrypted {
		return d.reply("502 not available")
	}

	if !d.reply("220 go on") {
		return false
	}

	d.encrypted = true
	d.use(tls.Server(d.conn, d.server.cfg.TLS))

	return true
}

// login supports PLAIN with an initial response, and LOGIN.
func (d *dialogue) login(argument string) bool {
	mechanism, initial, _ := strings.Cut(argument, " ")

	var user, password string

	switch strings.ToUpper(mechanism) {
	case "PLAIN":
		parts := strings.Split(decode(initial), "\x00")
		if len(parts) == 3 {
			user, password = parts[1], parts[2]
		}
	case "LOGIN":
		for _, part := range []struct {
			prompt string
			to     *string
		}{{"Username:", &user}, {"Password:", &password}} {
			if !d.reply("334 " + base64.StdEncoding.EncodeToString([]byte(part.prompt))) {
				return false
			}

			line, err := d.text.ReadLine()
			if err != nil {
				return false
			}

			*part.to = decode(line)
		}
	default:
		return d.reply("504 unknown mechanism")
	}

	if want, ok := d.server.cfg.Users[user]; !ok || want != password {
		return d.reply("535 5.7.8 wrong user name or password")
	}

	d.user = user

	return d.reply("235 welcome")
}

func decode(text string) string {
	raw, _ := base64.StdEncoding.DecodeString(text)

	return string(raw)
}

func (d *dialogue) recipient(argument string) bool {
	if d.mail == nil {
		return d.reply("503 MAIL first")
	}

	d.mail.To = append(d.mail.To, address(argument))

	return d.reply("250 OK")
}

func (d *dialogue) data() bool {
	switch {
	case d.mail == nil || len(d.mail.To) == 0:
		return d.reply("503 RCPT first")
	case len(d.server.cfg.Users) > 0 && d.user == "":
		return d.reply("530 5.7.0 log in first")
	case !d.reply("354 go on"):
		return false
	}

	raw, err := io.ReadAll(io.LimitReader(d.text.DotReader(), maxMail))
	if err != nil {
		return false
	}

	mail := *d.mail
	mail.Data, d.mail = string(raw), nil

	faulty, keepOpen := d.faulty(".", "")
	if faulty && keepOpen {
		return true
	}

	d.server.keepMail(mail)

	return !faulty && d.reply("250 2.0.0 accepted")
}

// address returns the address in the argument of MAIL or RCPT.
func address(argument string) string {
	_, rest, _ := strings.Cut(argument, "<")
	found, _, _ := strings.Cut(rest, ">")

	return found
}
