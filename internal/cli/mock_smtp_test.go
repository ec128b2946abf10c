package cli_test

import (
	"encoding/json"
	"net/smtp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

// The client is the standard library's.
func TestMockAcceptsMailAndPrintsIt(t *testing.T) {
	t.Parallel()

	for _, format := range []string{"json", "text"} {
		command := mockCommand("--smtp", "127.0.0.1:0", "--listen", "127.0.0.1:0", "-o", format)
		stdout := newBuffer()
		command.Stdout, command.Stderr = stdout, newBuffer()
		require.NoError(t, command.Start())
		t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })

		var address string

		if format == "json" {
			var at struct{ SMTP string }

			require.NoError(t, json.Unmarshal([]byte(stdout.wait(t, "\n")), &at))
			address = at.SMTP
		} else {
			_, rest, _ := strings.Cut(stdout.wait(t, "  SMTP: 127.0.0.1:"), "  SMTP: ")
			address, _, _ = strings.Cut(rest, "\n")
		}

		mail := "Subject: =?utf-8?q?Gr=C3=B6=C3=9Fe?=\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe disk=20is =1B[31mfull.\r\n"
		require.NoError(t, smtp.SendMail(address, nil, "tarsy@example.org", []string{"a@example.org", "b@example.org"}, []byte(mail)))

		if format == "json" {
			printed := stdout.wait(t, "The disk")
			require.Contains(t, printed, `"from":"tarsy@example.org","to":["a@example.org","b@example.org"],"subject":"Größe","text":"The disk is `)
		} else {
			printed := stdout.wait(t, "full.")
			require.Contains(t, printed, "\nMail from tarsy@example.org to a@example.org, b@example.org\nSubject: Größe\n\nThe disk is ")
			require.NotContains(t, printed, "\x1b")
		}

		require.NoError(t, command.Process.Signal(syscall.SIGTERM))
		_ = command.Wait()
		require.Equal(t, cli.ExitOK, command.ProcessState.ExitCode())
	}
}
