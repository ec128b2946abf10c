package e2e

import (
	"net/http"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// discord.js, as published on npm, runs against the virtual Discord in its own process: it logs in, receives, sends, waits
// for rate limits, reconnects and resumes as with the real one.
func TestDiscordJSRunsAgainstTheVirtualDiscord(t *testing.T) {
	t.Parallel()

	modules := sdkModules(t)
	server := startMock(t, buildProgram(t), filepath.Join("testdata", "sdk", "discord.yaml"))
	requireChecks(t, 9, runChecks(t, modules, "discord.mjs", server.URL))

	status, body := fetch(t, server.URL+"/_mock/verify")
	require.Equal(t, http.StatusOK, status, "%s", body)
}
