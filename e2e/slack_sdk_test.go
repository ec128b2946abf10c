package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/mock/slack"
)

// Slack's SDKs, as published on npm, against the virtual Slack: messages, threads, buttons, modals, redelivery, rate limits and
// reconnects as with the real one.
func TestSlackSDKsRunAgainstTheVirtualSlack(t *testing.T) {
	t.Parallel()

	modules := sdkModules(t)
	server, err := slack.New(slack.Config{Setup: slack.Setup{
		Token: "xoxb-1", AppToken: "xapp-1", Users: []slack.User{{Name: "alice"}}, Channels: []slack.Channel{{Name: "alerts"}},
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	checks := runChecks(t, modules, "slack.mjs", strings.TrimSuffix(server.API(), "/slack/api"))
	require.Len(t, checks, 9)

	for _, c := range checks {
		t.Run(c.Name, func(t *testing.T) { require.True(t, c.OK, c.Detail) })
	}
}
