package cli_test

import (
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/mock/smtp"
)

const mailDoctorConfig = `
llm_providers: {scripted: {type: scripted}}
defaults: {llm_provider: scripted}
agents: {A: {}}
agent_chains: {c: {alert_types: [a], stages: [{name: s, agents: [{name: A}]}]}}
alerts:
  write_back:
    oncall:
      type: email
      from: tarsy@example.org
      to: [oncall@example.org]
      smtp: {host: 127.0.0.1, port: PORT, tls: MODE, username: tarsy, password_env: SMTP_PASSWORD}
`

func TestDoctorLogsInToMailServerAndSendsNothing(t *testing.T) {
	t.Parallel()

	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	server := smtp.Serve(listener, smtp.Config{Users: map[string]string{"tarsy": "good-secret"}})
	port := strconv.Itoa(server.Addr().Port)
	doctor := func(mode, password string) result {
		dir := writeConfig(t, strings.NewReplacer("PORT", port, "MODE", mode).Replace(mailDoctorConfig))

		return tarsyWith(t, []string{"SMTP_PASSWORD=" + password}, "", doctorArgs(t, "--config-dir", dir)...)
	}

	got := doctor("none", "good-secret")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "ok    mail of oncall: logged in to 127.0.0.1:"+port+" as tarsy\n")

	got = doctor("none", "wrong-secret")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Regexp(t, `fail  mail of oncall: .*responded with 535 to AUTH.*\n\s+→ check smtp.username, the password`, got.stdout)
	require.NotContains(t, got.stdout+got.stderr, "wrong-secret")

	got = doctor("starttls", "good-secret")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "fail  mail of oncall: the SMTP server does not offer STARTTLS\n")

	got = doctor("none", "")
	require.Equal(t, cli.ExitOK, got.code, "a server runs without it")
	require.Regexp(t, `warn  write-back: .*environment variable SMTP_PASSWORD is not set`, got.stdout)
	require.NotContains(t, got.stdout, "mail of oncall")

	require.Empty(t, server.Mails())
	require.NoError(t, server.Close())

	got = doctor("none", "good-secret")
	require.Equal(t, cli.ExitOK, got.code, "a server tries again")
	require.Regexp(t, `warn  mail of oncall: .*refused.*\n\s+→ check smtp.host`, got.stdout)
}
