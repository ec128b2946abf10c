package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/tarsytest"
)

// floodedConnections is the connection limit of a server under attack. One network, which is all that a test has, gets half of them.
const floodedConnections = 256

// newFlooded returns a server with few connections that receives deliveries.
func newFlooded(t *testing.T, requireKey bool) *tarsytest.App {
	t.Helper()

	app := tarsytest.New(t, tarsytest.Options{
		Config: senders + "system: {max_connections: " + strconv.Itoa(floodedConnections) + "}\n", RequireKey: requireKey,
		Env: map[string]string{"RECEIVER_TOKEN": receiverToken, "GRAFANA_TOKEN": grafanaToken, "PAGERDUTY_SECRET": pagerDutySecret},
	})
	modelAnswers(app, nil)

	if requireKey {
		app.Token = app.Key("viewer", tarsy.ScopeWrite)
	}

	return app
}

// attacker is what each of too many connections does.
type attacker struct {
	// sends is written first.
	sends string
	// neverReads is set if the attacker reads nothing and does not reopen a connection.
	neverReads bool
}

// hold uses one connection until the server closes it or the context ends; an attacker that never reads waits for the context. begun is
// called once sends is written.
func (a attacker) hold(ctx context.Context, address string, begun func()) {
	var dialer net.Dialer

	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return
	}

	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer func() {
		stop()

		_ = conn.Close()
	}()

	// A small buffer fills up immediately.
	if tcp, ok := conn.(*net.TCPConn); ok && a.neverReads {
		_ = tcp.SetReadBuffer(4 << 10)
	}

	_, _ = io.WriteString(conn, a.sends)

	begun()

	if a.neverReads {
		<-ctx.Done()
	} else {
		_, _ = io.Copy(io.Discard, conn)
	}
}

// flood opens this many connections, and reopens each that is closed, until the test is over.
func flood(t *testing.T, app *tarsytest.App, attackers int, a attacker) {
	t.Helper()

	var (
		all, begun  sync.WaitGroup
		ctx, cancel = context.WithCancel(t.Context())
	)

	for range attackers {
		begun.Add(1)

		once := sync.OnceFunc(begun.Done)

		all.Go(func() {
			for ctx.Err() == nil {
				a.hold(ctx, strings.TrimPrefix(app.URL, "http://"), once)
			}
		})
	}

	t.Cleanup(func() {
		cancel()
		all.Wait()
	})

	begun.Wait()
}

// requireService checks that deliveries and the dashboard work, each over a new connection. Like senders and browsers it
// retries when the server closes a connection or is overloaded, but not so long that the attackers' connections would have
// timed out.
func requireService(t *testing.T, app *tarsytest.App) {
	t.Helper()

	const rounds = 10

	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	tries, began := 0, time.Now()

	try := func(method, path, token string, body []byte) error {
		tries++

		request, err := http.NewRequestWithContext(wait.Context(t), method, app.URL+path, bytes.NewReader(body))
		require.NoError(t, err)

		if token != "" {
			request.Header.Set("Authorization", "Bearer "+token)
		}

		request.Header.Set("Content-Type", "application/json")

		response, err := client.Do(request)
		if err != nil {
			return err
		}

		defer func() { _ = response.Body.Close() }()

		text, err := io.ReadAll(response.Body)
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %.200s", response.Status, text)
		}

		return err
	}

	for i := range rounds {
		alert, err := json.Marshal(notification(fires("Flood", "shop", strconv.Itoa(i))))
		require.NoError(t, err)

		for _, one := range []struct {
			method, path, token string
			body                []byte
		}{
			{http.MethodPost, "/api/v1/webhooks/alertmanager/cluster", receiverToken, alert},
			{http.MethodGet, "/api/v1/sessions", app.Token, nil},
			{http.MethodGet, "/", "", nil},
		} {
			deadline := time.Now().Add(slowness.Scale(3 * time.Second))

			for err := try(one.method, one.path, one.token, one.body); err != nil; err = try(one.method, one.path, one.token, one.body) {
				require.True(t, time.Now().Before(deadline), "%s %s, after %d requests: %v", one.method, one.path, tries, err)
			}
		}
	}

	t.Logf("%d requests for %d results in %s", tries, 3*rounds, time.Since(began).Round(time.Millisecond))
}

// The cases run one after another, because each uses the whole machine.
func TestConnectionFloodLeavesServiceAvailable(t *testing.T) {
	t.Parallel()

	const attackers = floodedConnections + 50

	request := "GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n"

	for name, a := range map[string]attacker{
		"never read their answers": {sends: strings.Repeat(request, 20), neverReads: true},
		"idle and reopened":        {sends: "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"},
		"head does not end":        {sends: "GET /api/v1/sessions HTTP/1.1\r\nHost: localhost\r\n"},
		"body does not end":        {sends: "POST /api/v1/alerts HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"},
	} {
		t.Run(name, func(t *testing.T) {
			app := newFlooded(t, false)
			flood(t, app, attackers, a)
			requireService(t, app)
		})
	}
}

// The senders of these bodies are identified by their signature, which needs the whole body.
func TestUnsignedBodiesUseLimitedMemoryAndLeaveServiceAvailable(t *testing.T) {
	t.Parallel()

	const length, untrusted = 8 << 20, 32 << 20

	app := newFlooded(t, true)
	head := "POST /api/v1/webhooks/pagerduty/oncall HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
		"X-PagerDuty-Signature: v1=00\r\nContent-Length: " + strconv.Itoa(length) + "\r\n\r\n"

	flood(t, app, 40, attacker{sends: head + strings.Repeat(" ", length-1)})
	wait.Until(t, "bodies in memory", func() bool { return metricOf(t, app, "tarsy_http_body_bytes") > untrusted/4 })
	requireService(t, app)

	for range 20 {
		require.LessOrEqual(t, metricOf(t, app, "tarsy_http_body_bytes"), float64(untrusted))
	}
}
