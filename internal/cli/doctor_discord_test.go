package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

const discordDoctorConfig = `
llm_providers: {scripted: {type: scripted}}
defaults: {llm_provider: scripted}
agents: {A: {}}
agent_chains: {c: {alert_types: [a], stages: [{name: s, agents: [{name: A}]}]}}
system: {discord: {enabled: ENABLED, channel: "CHANNEL", api_url: 'API', token_env: BOT_TOKEN}}
`

func TestDoctorChecksDiscordTokenAndChannel(t *testing.T) {
	t.Parallel()

	server, err := discord.New(discord.Config{Setup: discord.Setup{
		Token: "good-secret", Guilds: []discord.Guild{{Name: "ops", Channels: []discord.Channel{{Name: "alerts"}}}},
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	alerts, err := server.ID("alerts")
	require.NoError(t, err)

	doctor := func(enabled, channel, token string) result {
		dir := writeConfig(t, strings.NewReplacer("ENABLED", enabled, "CHANNEL", channel, "API", server.API()).Replace(discordDoctorConfig))

		return tarsyWith(t, []string{"BOT_TOKEN=" + token}, "", doctorArgs(t, "--config-dir", dir)...)
	}

	got := doctor("true", alerts, "good-secret")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "ok    Discord: the bot is tarsy, announcements go to #alerts\n")

	got = doctor("true", alerts, "wrong-secret")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Regexp(t, `fail  Discord: .*Unauthorized.*\n\s+→ check that BOT_TOKEN is the token of the bot, or reset it in the developer portal`, got.stdout)
	require.NotContains(t, got.stdout+got.stderr, "wrong-secret")

	got = doctor("true", "99999", "good-secret")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Regexp(t, `fail  Discord: .*Unknown Channel.*\n\s+→ check system.discord.channel, and that the bot tarsy is in its guild`, got.stdout)

	got = doctor("true", alerts, "")
	require.Equal(t, cli.ExitOK, got.code, "a server runs without it")
	require.Regexp(t, `warn  Discord: environment variable BOT_TOKEN is not set.*\n\s+→ set it to the token of the bot`, got.stdout)

	got = doctor("false", alerts, "wrong-secret")
	require.Equal(t, cli.ExitOK, got.code)
	require.NotContains(t, got.stdout, "Discord:")

	server.Stop()

	got = doctor("true", alerts, "good-secret")
	require.Equal(t, cli.ExitOK, got.code, "a server tries again")
	require.Regexp(t, `warn  Discord: .*refused.*\n\s+→ check system.discord.api_url`, got.stdout)
}
