package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const smtpServer = "smtp: {host: mail.example.org}"

func TestMailThatCouldNotBeSentIsRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"type: email, from: a@example.org, " + smtpServer:                                                                 "a.to: is required",
		"type: email, from: a@example.org, to: [b@example.org]":                                                           "a.smtp: is required",
		"type: email, from: a@example.org, to: [b@example.org], smtp: {}":                                                 "a.smtp.host: is required",
		"type: email, from: nobody, to: [b@example.org], " + smtpServer:                                                   "a.from: not an e-mail address",
		"type: email, from: a@example.org, to: [b@example.org, 'c d'], " + smtpServer:                                     "a.to[1]: not an e-mail address",
		"type: email, from: a@example.org, to: [\"b@example.org\\r\\nBcc: c@example.org\"], " + smtpServer:                "a.to[0]: not an e-mail address",
		"type: email, from: a@example.org, to: ['zoë@example.org'], " + smtpServer:                                        "a.to[0]: not an e-mail address",
		"type: email, from: a@example.org, to: [b@example.org], subject: '{{.Nope}}', " + smtpServer:                      "a.subject: the template fails",
		"type: email, from: a@example.org, to: [b@example.org], body: '{{', " + smtpServer:                                "a.body: invalid template",
		"type: email, from: a@example.org, to: [b@example.org], url: 'https://a.example', " + smtpServer:                  "a.url: is not for the type email",
		"type: email, from: a@example.org, to: [b@example.org], headers: {A: b}, " + smtpServer:                           "a.headers: is not for the type email",
		"type: email, from: a@example.org, to: [b@example.org], smtp: {host: h, port: 0}":                                 "a.smtp.port: must be at least 1",
		"type: email, from: a@example.org, to: [b@example.org], smtp: {host: h, tls: yes}":                                "a.smtp.tls: unknown value",
		"type: email, from: a@example.org, to: [b@example.org], smtp: {host: h, username: u}":                             "a.smtp: username and password_env go together",
		"type: email, from: a@example.org, to: [b@example.org], smtp: {host: h, tls: none, username: u, password_env: P}": "a.smtp.tls: none would send the password unencrypted",
		"url: 'https://a.example', to: [b@example.org]":                                                                   "a.to: is only for the type email",
		"url: 'https://a.example', " + smtpServer:                                                                         "a.smtp: is only for the type email",
		"url: 'https://a.example', subject: x":                                                                            "a.subject: is only for the type email",
		"url: 'https://a.example', quiet_hours: {from: '22:00', to: '22:00'}":                                             "a.quiet_hours: from and to must differ",
		"url: 'https://a.example', quiet_hours: {from: '22:00'}":                                                          "a.quiet_hours.to: is required",
		"url: 'https://a.example', quiet_hours: {from: '22:00', to: '07:00', time_zone: Mars}":                            "time_zone must be a time zone",
		"url: 'https://a.example', quiet_hours: {from: '22:00', to: '07:00', days: [monday]}":                             "a.quiet_hours.days[0]: unknown value",
		"url: 'https://a.example', quiet_hours: {from: '22:00', to: '07:00', except: [bad]}":                              "a.quiet_hours.except[0]: unknown value",
		"url: 'https://a.example', on: [approved]":                                                                        "a.on[0]: unknown value",
	} {
		_, err := load("alerts: {write_back: {a: {"+text+"}}}", nil)
		require.ErrorContains(t, err, want, text)
	}
}

func TestMailSettingsHaveDefaultsAndWarnings(t *testing.T) {
	t.Parallel()
	const target = "type: email, from: 'TARSy <tarsy@example.org>', to: [b@example.org, 'On call <c@example.org>']"
	c := mustLoad(t, "alerts: {write_back: {a: {"+target+", smtp: {host: mail.example.org, username: u, password_env: P}, quiet_hours: {from: '22:00', to: '07:00'}}, "+
		"near: {"+target+", smtp: {host: 127.0.0.1, tls: none}}, far: {"+target+", smtp: {host: mail.example.org, tls: none}}}}", nil)
	a := c.Alerts.WriteBack["a"]
	require.Equal(t, 587, a.SMTP.Port)
	require.Equal(t, "starttls", a.SMTP.TLS)
	require.Equal(t, []string{"critical"}, a.Quiet.Except)
	require.Equal(t, "UTC", a.Quiet.TimeZone)
	from, to, err := a.Addresses()
	require.NoError(t, err)
	require.Equal(t, "tarsy@example.org", from.Address)
	require.Equal(t, "On call", to[1].Name)
	require.Equal(t, "alerts.write_back.a.smtp.password_env", c.UnsetWriteBackVariables(env(nil))[0].Path)
	require.Empty(t, c.UnsetWriteBackVariables(env(map[string]string{"P": "x"})))
	require.Contains(t, c.Secrets(env(map[string]string{"P": "an-smtp-password"})), "an-smtp-password", "the masker hides it")
	warnings := c.WriteBackWarnings()
	require.Len(t, warnings, 1)
	require.Equal(t, "alerts.write_back.far.smtp.tls", warnings[0].Path)
	require.Contains(t, warnings[0].Message, "mail is sent unencrypted")
}

func TestDiscordSettingsThatCannotBeAppliedAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"teams: {payments: general}":                  "system.discord.teams.payments: not a Discord ID",
		"on: [verdict]":                               "system.discord.on[0]: unknown value",
		"quiet_hours: {from: '1:00', to: '01:00'}":    "system.discord.quiet_hours: from and to must differ",
		"templates: {begun: x}":                       `system.discord.templates.begun: unknown event`,
		"templates: {finished: '{{.Nope}}'}":          "system.discord.templates.finished: the template fails",
		"templates: {approval: '{{.Approval.Nope}}'}": "system.discord.templates.approval: the template fails",
	} {
		_, err := load("system: {discord: {"+text+"}}", nil)
		require.ErrorContains(t, err, want, text)
	}
}
