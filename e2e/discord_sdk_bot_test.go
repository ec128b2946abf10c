package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

// discord.js does with the virtual Discord what bots do besides writing messages: files, reactions, pins, deleted threads,
// commands, buttons and webhooks. The product uses disgo.
func TestDiscordJSUsesCommandsFilesAndWebhooksOfTheVirtualDiscord(t *testing.T) {
	t.Parallel()

	modules := sdkModules(t)
	server, err := discord.New(discord.Config{Setup: discord.Setup{
		Users: []discord.User{{Name: "alice"}}, Guilds: []discord.Guild{{Name: "ops", Channels: []discord.Channel{{Name: "alerts"}}}},
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	requireChecks(t, 9, runChecks(t, modules, "discord-more.mjs", strings.TrimSuffix(server.URL(), "/discord")))
	require.Empty(t, server.Unexpected())
}
