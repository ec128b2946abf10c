package mcpserver_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/jonboulle/clockwork"
	mcpsdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/kit/mock/mcpserver"
)

// roleVariable makes the test binary run a scripted server on its standard streams; its value is the script.
const roleVariable = "TARSY_MCPSERVER_TEST_SCRIPT"

func TestMain(m *testing.M) {
	if text, ok := os.LookupEnv(roleVariable); ok {
		if err := serveProcess(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}

		os.Exit(0)
	}

	goleak.VerifyTestMain(m)
}

func serveProcess(text string) error {
	servers, err := parse(text)
	if err != nil {
		return err
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()

	return servers.ServeStdio(ctx, "shop")
}

// parse parses the section mcp_servers of a script.
func parse(text string) (mcpserver.Servers, error) {
	var file struct {
		Version int               `yaml:"version"`
		Servers mcpserver.Servers `yaml:"mcp_servers"`
	}

	err := yaml.UnmarshalWithOptions([]byte(text), &file, yaml.Strict())

	return file.Servers, err
}

// world is a host behind a real HTTP server.
type world struct {
	host  *mcpserver.Host
	url   string
	clock *clockwork.FakeClock
}

// open hosts a server named shop with the tools, given as YAML below `tools:`.
func open(t *testing.T, tools string) *world {
	t.Helper()

	servers, err := parse(script(tools))
	require.NoError(t, err)
	require.Empty(t, servers.Check())

	clock := clockwork.NewFakeClock()
	host, err := mcpserver.NewHost(servers, mcpserver.Options{Clock: clock})
	require.NoError(t, err)

	server := httptest.NewServer(host.Handler())
	t.Cleanup(server.Close)

	return &world{host: host, url: server.URL, clock: clock}
}

func script(tools string) string {
	return "mcp_servers:\n  shop:\n    version: 1.2.3\n    instructions: Ask first.\n    tools:\n" + tools
}

// connect returns a client connected to the server over HTTP.
func (w *world) connect(t *testing.T) *mcpsdk.ClientSession {
	t.Helper()

	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)

	return connect(t, &mcpsdk.StreamableClientTransport{
		Endpoint: w.url + "/mcp/shop", HTTPClient: &http.Client{Transport: transport}, DisableStandaloneSSE: true, MaxRetries: -1,
	})
}

func connect(t *testing.T, transport mcpsdk.Transport) *mcpsdk.ClientSession {
	t.Helper()

	session, err := mcpsdk.NewClient(&mcpsdk.Implementation{Name: "test"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = session.Close() }) // a fault may have broken it

	return session
}

// ask calls a tool and returns the text of its result, and whether it is a tool error.
func ask(t *testing.T, session *mcpsdk.ClientSession, tool, arguments string) (string, bool) {
	t.Helper()

	result, err := session.CallTool(t.Context(), params(tool, arguments))
	require.NoError(t, err, "%s %s", tool, arguments)
	require.Len(t, result.Content, 1)

	content, ok := result.Content[0].(*mcpsdk.TextContent)
	require.True(t, ok)

	return content.Text, result.IsError
}

func params(tool, arguments string) *mcpsdk.CallToolParams {
	return &mcpsdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
}
