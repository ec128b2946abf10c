package discord_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/discord"
)

// gatewayScript is a gateway with one connection, controlled by the test.
type gatewayScript struct {
	t       *testing.T
	sockets chan *websocket.Conn
	socket  *websocket.Conn
}

func serveGateway(t *testing.T) (script *gatewayScript, address string) {
	t.Helper()

	script = &gatewayScript{t: t, sockets: make(chan *websocket.Conn)}
	ended := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}

		script.sockets <- socket
		<-ended

		_ = socket.CloseNow()
	}))

	t.Cleanup(server.Close)
	t.Cleanup(func() { close(ended) })

	return script, "ws" + strings.TrimPrefix(server.URL, "http")
}

type object = map[string]any

func (g *gatewayScript) send(op int, event string, sequence int, data any) {
	g.t.Helper()
	require.NoError(g.t, wsjson.Write(within(g.t), g.socket, object{"op": op, "t": event, "s": sequence, "d": data}))
}

// expect reads the next frame, which must have this opcode.
func (g *gatewayScript) expect(op int) {
	g.t.Helper()

	var frame struct{ Op int }

	require.NoError(g.t, wsjson.Read(within(g.t), g.socket, &frame))
	require.Equal(g.t, op, frame.Op)
}

// settle waits until the client has handled everything that was sent.
func (g *gatewayScript) settle() {
	g.t.Helper()
	g.send(1, "", 0, nil)
	g.expect(1)
}

// The input of the branch counts as running, and the flow as started, once the bot is connected and its guilds are available.
func TestBranchRunsWhenItsGuildsAreAvailable(t *testing.T) {
	t.Parallel()

	script, address := serveGateway(t)
	branch, err := discord.New(discord.Config{Connection: discord.ClientConfig{Token: token, Gateway: address, API: "http://127.0.0.1:1"}})
	require.NoError(t, err)

	built, err := flow.Build([]*flow.Branch{branch.Branch}, flow.Route(branch.Messages, branch.Drafts,
		func(context.Context, discord.Message) (discord.Draft, error) { return discord.Draft{}, flow.ErrSkip }))
	require.NoError(t, err)

	started := make(chan error, 1)

	go func() { started <- built.Start(within(t)) }()

	t.Cleanup(func() {
		if script.socket != nil {
			script.socket.CloseRead(context.Background()) // answers the close frame of the client
		}

		require.NoError(t, built.Stop(context.Background()))
	})

	daemons := built.Daemons()
	input := daemons[len(daemons)-1]
	require.Equal(t, "discord input", input.Name())

	script.socket = <-script.sockets
	require.Equal(t, flow.StatusStarting, input.Status(), "connected")

	script.send(10, "", 0, object{"heartbeat_interval": 3_600_000})
	script.expect(2)
	script.send(0, "READY", 1, object{
		"user": object{"id": "1"}, "session_id": "s", "guilds": []object{{"id": "7"}, {"id": "8"}, {"id": "9"}},
	})
	script.settle()
	require.Equal(t, flow.StatusStarting, input.Status(), "known to Discord")

	script.send(0, "GUILD_CREATE", 2, object{"id": "7"})
	script.send(0, "GUILD_DELETE", 3, object{"id": "8", "unavailable": true})
	script.settle()
	require.Equal(t, flow.StatusStarting, input.Status(), "one guild available, one down, one missing")
	require.Empty(t, started)

	script.send(0, "GUILD_CREATE", 4, object{"id": "9"})
	require.NoError(t, <-started)
	require.Equal(t, flow.StatusRunning, input.Status())
}
