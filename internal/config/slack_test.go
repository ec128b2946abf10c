package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSlackHasDefaultsAndReportsUnsetTokens(t *testing.T) {
	t.Parallel()

	c := mustLoad(t, "system: {slack: {enabled: true, channel: C1}}\n", nil)
	require.Equal(t, []string{"finished", "failed", "approval"}, c.System.Slack.On)

	env := func(set map[string]string) func(string) (string, bool) {
		return func(name string) (string, bool) { v, ok := set[name]; return v, ok }
	}

	unset := c.UnsetSlackVariables(env(nil))
	require.Len(t, unset, 2)
	require.Equal(t, "system.slack.token_env", unset[0].Path)
	require.Equal(t, "system.slack.app_token_env", unset[1].Path)
	require.Empty(t, c.UnsetSlackVariables(env(map[string]string{"SLACK_BOT_TOKEN": "x", "SLACK_APP_TOKEN": "y"})))
	require.Empty(t, mustLoad(t, "system: {slack: {channel: C1}}\n", nil).UnsetSlackVariables(env(nil)))
}
