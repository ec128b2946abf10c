package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/mock/slack"
)

func TestDoctorChecksSlackTokens(t *testing.T) {
	t.Parallel()

	server, err := slack.New(slack.Config{Setup: slack.Setup{Token: "xoxb-good", AppToken: "xapp-good"}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	doctor := func(enabled, token, appToken string) (result, string) {
		settings := strings.Replace(discordDoctorConfig, `system: {discord: {enabled: ENABLED, channel: "CHANNEL", api_url: 'API', token_env: BOT_TOKEN}}`,
			`system: {slack: {enabled: ENABLED, channel: C1, api_url: 'API'}}`, 1)
		dir := writeConfig(t, strings.NewReplacer("ENABLED", enabled, "API", server.API()).Replace(settings))
		got := tarsyWith(t, []string{"SLACK_BOT_TOKEN=" + token, "SLACK_APP_TOKEN=" + appToken}, "", doctorArgs(t, "--config-dir", dir)...)

		return got, got.stdout
	}

	_, text := doctor("true", "xoxb-good", "xapp-good")
	require.Contains(t, text, "ok    Slack: the bot is tarsy\n")

	got, text := doctor("true", "xoxb-bad", "xapp-good")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Regexp(t, `fail  Slack: .*invalid_auth.*\n\s+→ check that SLACK_BOT_TOKEN is the bot token`, text)
	require.NotContains(t, text, "xoxb-bad")

	_, text = doctor("true", "xoxb-good", "xapp-bad")
	require.Regexp(t, `fail  Slack: .*invalid_auth.*\n\s+→ check that SLACK_APP_TOKEN is an app-level token`, text)

	_, text = doctor("true", "", "")
	require.Contains(t, text, "environment variable SLACK_BOT_TOKEN is not set")
	require.Contains(t, text, "environment variable SLACK_APP_TOKEN is not set")

	_, text = doctor("false", "", "")
	require.NotContains(t, text, "Slack:")

	server.Stop()

	_, text = doctor("true", "xoxb-good", "xapp-good")
	require.Regexp(t, `warn  Slack: .*refused.*\n\s+→ check system.slack.api_url`, text)
}
