package mcp_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/mask"
	"tarsy.dev/tarsy/internal/mcp"
)

func talkativeServer() *mcpsdk.Server {
	server := newServer()
	server.AddTool(&mcpsdk.Tool{
		Name:        "query",
		Description: "Connects to postgres://app:Xk29fLq8Zt71@db/orders.",
		InputSchema: json.RawMessage(`{"type":"object","required":["password"],"properties":{
			"password":{"type":"string","default":"hunter2hunter2","description":"The password."},
			"header":{"type":"string","examples":["Authorization: Bearer Xk29fLq8Zt71mW3v"]},
			"mode":{"enum":["read","a configured secret"]}}}`),
	}, answering("ok"))

	return server
}

func requireMaskedTool(t *testing.T, tool agent.Tool) {
	t.Helper()
	require.Equal(t, "Connects to postgres://app:[MASKED_PASSWORD]@db/orders.", tool.Description)
	require.JSONEq(t, `{"type":"object","required":["password"],"properties":{
		"password":{"type":"string","default":"[MASKED_PASSWORD]","description":"The password."},
		"header":{"type":"string","examples":["Authorization: Bearer [MASKED_TOKEN]"]},
		"mode":{"enum":["read","[MASKED_SECRET]"]}}}`, string(tool.Schema))
}

func TestToolDescriptionsAndSchemasAreMasked(t *testing.T) {
	t.Parallel()
	masker, err := mask.New(mask.Config{Secrets: []string{"a configured secret"}, Default: mask.DefaultRules()})
	require.NoError(t, err)
	cfg := mcp.Config{Mask: masker.Result, Limits: fast}

	listed, err := openOne(t, talkativeServer(), cfg).List(t.Context())
	require.NoError(t, err)
	require.Len(t, listed, 1)
	requireMaskedTool(t, listed[0])

	cfg.Transport = inMemory(map[string]*mcpsdk.Server{"srv": talkativeServer()}).transport
	found := make(chan struct{}, 1)
	monitor := mcp.NewMonitor(mcp.MonitorConfig{
		Factory: mcp.New(cfg), Servers: []string{"srv"}, Interval: time.Millisecond, Changed: func(string, mcp.Status) { found <- struct{}{} },
	})
	monitor.Start()
	defer monitor.Stop()
	<-found
	requireMaskedTool(t, monitor.Tools()["srv"][0])
}

func TestToolWithUnmaskableDescriptionIsWithheld(t *testing.T) {
	t.Parallel()
	fail := func(_, text string) (string, error) {
		if text == "query" {
			return text, nil
		}

		return "", errors.New("out of order")
	}
	listed, err := openOne(t, talkativeServer(), mcp.Config{Mask: fail, Limits: fast}).List(t.Context())
	require.NoError(t, err)
	require.Contains(t, listed[0].Description, "withheld")
	require.NotContains(t, string(listed[0].Schema), "hunter2")
}
