package e2e

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// The configuration is the golden file of tarsy init.
func TestConfigurationOfInitInvestigatesAnAlert(t *testing.T) {
	t.Parallel()

	text, err := os.ReadFile("../internal/cli/testdata/init.yaml.golden")
	require.NoError(t, err)

	app := tarsytest.New(t, tarsytest.Options{
		Config: string(text), Env: map[string]string{"TARSY_ALERTMANAGER_TOKEN": "secret-of-alertmanager"},
		MCP: []*tarsytest.MCPServer{tarsytest.NewMCPServer("kubernetes-server"), tarsytest.NewMCPServer("prometheus-server")},
	})
	app.Script.Add(says("The disk is full."), says("Disk full."))

	session := app.Run("", "disk full on node-1")
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)
	require.Equal(t, "kubernetes", session.ChainID)
	require.Equal(t, "anthropic-default", app.Script.Calls()[0].Request.Provider)
}
