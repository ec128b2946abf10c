package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/slack"
)

// Slack's SDKs, as published on npm, run against the virtual Slack: messages, threads, buttons, modals, redelivery, rate
// limits and reconnects work as with the real one.
func TestSlackSDKsRunAgainstTheVirtualSlack(t *testing.T) {
	t.Parallel()

	checkSlackSDK(t, "slack.mjs", 9)
}

// The SDKs do what apps do besides writing messages: reactions, channels, users, files, views, response URLs and the limits of blocks.
func TestSlackSDKsUseTheWebAPIOfTheVirtualSlack(t *testing.T) {
	t.Parallel()

	checkSlackSDK(t, "slack-web.mjs", 9)
}

// Bolt, Slack's framework for apps, has listeners for all of these and answers clicks with response URLs.
func TestBoltAppRunsAgainstTheVirtualSlack(t *testing.T) {
	t.Parallel()

	checkSlackSDK(t, "slack-bolt.mjs", 4)
}

// checkSlackSDK runs a program with this many checks against its own virtual Slack.
func checkSlackSDK(t *testing.T, program string, count int) {
	t.Helper()

	modules := sdkModules(t)
	server, err := slack.New(slack.Config{Setup: slack.Setup{
		Token: "xoxb-1", AppToken: "xapp-1", Users: []slack.User{{Name: "alice"}}, Channels: []slack.Channel{{Name: "alerts"}, {Name: "quiet", NotJoined: true}},
	}})
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(server.Stop)

	requireChecks(t, count, runChecks(t, modules, program, strings.TrimSuffix(server.API(), "/slack/api")))

	require.Empty(t, server.Unexpected())
}
