package discord_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/jonboulle/clockwork"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/discord"
)

// rawBot is a connection to the gateway that uses no library.
type rawBot struct {
	t      *testing.T
	socket *websocket.Conn
}

func dial(t *testing.T, s *discord.Server, query string) *rawBot {
	t.Helper()

	socket, response, err := websocket.Dial(within(t), s.Gateway()+"?"+query, nil)
	require.NoError(t, err)

	if response.Body != nil {
		_ = response.Body.Close()
	}

	socket.SetReadLimit(1 << 20)
	t.Cleanup(func() { _ = socket.CloseNow() })

	return &rawBot{t: t, socket: socket}
}

type frame struct {
	Op   int             `json:"op"`
	Data json.RawMessage `json:"d"`
	Seq  *int64          `json:"s"`
	Type string          `json:"t"`
}

func (b *rawBot) read() frame {
	b.t.Helper()

	_, data, err := b.socket.Read(within(b.t))
	require.NoError(b.t, err)

	return b.parse(data)
}

func (b *rawBot) parse(data []byte) frame {
	b.t.Helper()

	var f frame

	require.NoError(b.t, json.Unmarshal(data, &f), "%s", data)

	return f
}

func (b *rawBot) send(text string) {
	b.t.Helper()

	require.NoError(b.t, b.socket.Write(within(b.t), websocket.MessageText, []byte(text)))
}

// closed reads until the server closes the connection, and returns the close code.
func (b *rawBot) closed() int {
	b.t.Helper()

	for {
		if _, _, err := b.socket.Read(within(b.t)); err != nil {
			return int(websocket.CloseStatus(err))
		}
	}
}

const identify = `{"op":2,"d":{"token":"` + token + `","intents":33281,"properties":{}}}`

func (b *rawBot) identify() string {
	b.t.Helper()

	require.Equal(b.t, 10, b.read().Op)
	b.send(identify)

	ready := b.read()
	require.Equal(b.t, "READY", ready.Type)
	require.Equal(b.t, "GUILD_CREATE", b.read().Type)

	var data struct {
		Session string `json:"session_id"`
	}

	require.NoError(b.t, json.Unmarshal(ready.Data, &data))

	return data.Session
}

func TestGatewayClosesConnectionsWithDiscordsCodes(t *testing.T) {
	t.Parallel()

	s := start(t, func(c *discord.Config) { c.Disallow = []string{"presences"} })

	for name, test := range map[string]struct {
		query string
		send  []string
		code  int
	}{
		"unknown operation":         {send: []string{`{"op":77}`}, code: 4001},
		"no JSON":                   {send: []string{`{`}, code: 4002},
		"too long":                  {send: []string{`{"op":3,"d":"` + strings.Repeat("x", 4096) + `"}`}, code: 4002},
		"not identified":            {send: []string{`{"op":3,"d":{}}`}, code: 4003},
		"wrong token":               {send: []string{`{"op":2,"d":{"token":"wrong","intents":1}}`}, code: 4004},
		"wrong token for resuming":  {send: []string{`{"op":6,"d":{"token":"wrong","session_id":"x","seq":1}}`}, code: 4004},
		"identified twice":          {send: []string{identify, identify}, code: 4005},
		"shard that does not exist": {send: []string{`{"op":2,"d":{"token":"` + token + `","intents":1,"shard":[1,1]}}`}, code: 4010},
		"old version":               {query: "v=6", code: 4012},
		"no intents":                {send: []string{`{"op":2,"d":{"token":"` + token + `"}}`}, code: 4013},
		"unknown intents":           {send: []string{`{"op":2,"d":{"token":"` + token + `","intents":1073741824}}`}, code: 4013},
		"disallowed intents":        {send: []string{`{"op":2,"d":{"token":"` + token + `","intents":256}}`}, code: 4014},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := dial(t, s, test.query)
			for _, text := range test.send {
				b.send(text)
			}

			require.Equal(t, test.code, b.closed())
		})
	}
}

func TestGatewayClosesAClientThatSendsTooMuch(t *testing.T) {
	t.Parallel()

	b := dial(t, start(t), "v=10")
	for range 121 {
		b.send(`{"op":1,"d":null}`)
	}

	require.Equal(t, 4008, b.closed())
}

func TestGatewayClosesAClientThatStopsItsHeartbeat(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	s := start(t, func(c *discord.Config) { c.Clock, c.Heartbeat = clock, time.Minute })
	b := dial(t, s, "v=10&encoding=json")
	session := b.identify()

	// A heartbeat in time keeps the connection open.
	clock.Advance(time.Minute)
	b.send(`{"op":1,"d":2}`)
	require.Equal(t, 11, b.read().Op)
	clock.Advance(time.Minute)
	b.send(`{"op":1,"d":2}`)
	require.Equal(t, 11, b.read().Op)

	clock.Advance(2 * time.Minute)
	require.Equal(t, 4009, b.closed())

	b = dial(t, s, "v=10")
	require.Equal(t, 10, b.read().Op)
	b.send(`{"op":6,"d":{"token":"` + token + `","session_id":"` + session + `","seq":2}}`)

	invalid := b.read()
	require.Equal(t, 9, invalid.Op)
	require.JSONEq(t, `false`, string(invalid.Data), "the session timed out")
}

func TestResumeReplaysExactlyWhatWasMissed(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := dial(t, s, "v=10")
	session := b.identify()

	for _, text := range []string{"one", "two"} {
		_, err := s.Say("alerts", "alice", text, discord.Options{})
		require.NoError(t, err)
		require.Equal(t, "MESSAGE_CREATE", b.read().Type)
	}

	resume := func(seq string) *rawBot {
		s.DropGateway(discord.Drop{})

		b := dial(t, s, "v=10")
		require.Equal(t, 10, b.read().Op)
		b.send(`{"op":6,"d":{"token":"` + token + `","session_id":"` + session + `","seq":` + seq + `}}`)

		return b
	}

	b = resume("3")
	replayed := b.read()
	require.EqualValues(t, 4, *replayed.Seq)
	require.Contains(t, string(replayed.Data), `"two"`)

	resumed := b.read()
	require.Equal(t, "RESUMED", resumed.Type)
	require.EqualValues(t, 5, *resumed.Seq)

	require.Equal(t, 4007, resume("99").closed(), "a number that was never sent")
}

func TestWaitingForReceivedEventsAsksForAHeartbeat(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := dial(t, s, "v=10")
	session := b.identify()
	received := make(chan error, 1)

	_, err := s.Say("alerts", "alice", "one", discord.Options{})
	require.NoError(t, err)

	go func() { received <- s.WaitReceived(within(t)) }()

	require.Equal(t, "MESSAGE_CREATE", b.read().Type)
	require.Equal(t, 1, b.read().Op, "the request comes after the event")
	b.send(`{"op":1,"d":2}`)
	require.Equal(t, 11, b.read().Op)
	require.Empty(t, received, "event 3 is missing")

	// The client is asked again on the connection on which it resumes.
	s.DropGateway(discord.Drop{})

	b = dial(t, s, "v=10")
	require.Equal(t, 10, b.read().Op)
	b.send(`{"op":6,"d":{"token":"` + token + `","session_id":"` + session + `","seq":2}}`)
	require.Equal(t, "MESSAGE_CREATE", b.read().Type)
	require.Equal(t, "RESUMED", b.read().Type)
	require.Equal(t, 1, b.read().Op)
	b.send(`{"op":1,"d":3}`)
	require.NoError(t, next(t, received))

	// A session that has ended gets nothing more.
	_, err = s.Say("alerts", "alice", "two", discord.Options{})
	require.NoError(t, err)
	s.DropGateway(discord.Drop{Forget: true})
	require.NoError(t, s.WaitReceived(within(t)))
}

func TestWaitReceivedErrorListsConnections(t *testing.T) {
	t.Parallel()

	s := start(t)
	dial(t, s, "v=10").identify()
	s.DropGateway(discord.Drop{})

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	require.EqualError(t, s.WaitReceived(ctx), "a client has not received all events (enough); connections:\n"+
		"  1. identify, 0 heartbeats, closed by the server with code 0")
}

func TestMessageContentNeedsItsIntentUnlessTheBotIsConcerned(t *testing.T) {
	t.Parallel()

	s := start(t)
	b := dial(t, s, "v=10")
	require.Equal(t, 10, b.read().Op)
	// Guilds, guild messages and direct messages.
	b.send(`{"op":2,"d":{"token":"` + token + `","intents":4609}}`)
	b.read()
	b.read()

	content := func() string {
		var data struct{ Content string }

		f := b.read()
		require.Equal(t, "MESSAGE_CREATE", f.Type)
		require.NoError(t, json.Unmarshal(f.Data, &data))

		return data.Content
	}

	for _, test := range []struct{ channel, text, seen string }{
		{"alerts", "not for bots", ""},
		{"alerts", "hey <@tarsy>", "hey <@" + id(t, s, "@tarsy") + ">"},
		{"@alice", "direct", "direct"},
	} {
		_, err := s.Say(test.channel, "alice", test.text, discord.Options{})
		require.NoError(t, err)
		require.Equal(t, test.seen, content())
	}

	require.Equal(t, http.StatusOK, post(t, s, "POST", "/channels/"+id(t, s, "alerts")+"/messages", `{"content":"my own"}`).status)
	require.Equal(t, "my own", content())
}

func TestStreamsAreCompressedAsAsked(t *testing.T) {
	t.Parallel()

	for name, open := range map[string]func(r io.Reader) (io.Reader, error){
		"zlib-stream": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
		"zstd-stream": func(r io.Reader) (io.Reader, error) {
			return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := start(t)
			b := dial(t, s, "v=10&compress="+name)

			pipe, into := io.Pipe()
			ended := make(chan struct{})

			go func() {
				defer close(ended)

				for {
					kind, data, err := b.socket.Read(context.Background())
					if err != nil {
						_ = into.CloseWithError(err)

						return
					}

					if kind != websocket.MessageBinary {
						_ = into.CloseWithError(io.ErrUnexpectedEOF)

						return
					}

					_, _ = into.Write(data)
				}
			}()

			stream, err := open(pipe)
			require.NoError(t, err)

			decoder := json.NewDecoder(stream)

			var hello, ready frame

			require.NoError(t, decoder.Decode(&hello))
			require.Equal(t, 10, hello.Op)
			b.send(identify)
			require.NoError(t, decoder.Decode(&ready))
			require.Equal(t, "READY", ready.Type)

			_ = b.socket.CloseNow()
			_ = pipe.Close()
			<-ended
		})
	}
}

func TestPayloadsAreCompressedWhenIdentifyAsksForIt(t *testing.T) {
	t.Parallel()

	b := dial(t, start(t), "v=10")
	require.Equal(t, 10, b.read().Op)
	b.send(strings.Replace(identify, `"intents"`, `"compress":true,"intents"`, 1))

	kind, data, err := b.socket.Read(within(t))
	require.NoError(t, err)
	require.Equal(t, websocket.MessageBinary, kind)

	plain, err := zlib.NewReader(bytes.NewReader(data))
	require.NoError(t, err)

	text, err := io.ReadAll(plain)
	require.NoError(t, err)
	require.Equal(t, "READY", b.parse(text).Type)
}
