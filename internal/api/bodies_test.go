package api_test

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/kit/wait"
)

const (
	kib = 1 << 10
	// toSigned needs the body to authenticate its sender, toToken does not.
	toSigned = "/api/v1/webhooks/pagerduty/oncall"
	toToken  = "/api/v1/webhooks/alertmanager/team-a"
)

// fewBodies configures small body limits for a server behind a proxy. A buffer that grows counts both the old and the new memory.
func fewBodies(cfg *api.Config) {
	cfg.Bodies = api.BodyLimits{Bytes: 1024 * kib, BytesPerNetwork: 400 * kib, UntrustedBytes: 160 * kib, UntrustedBytesPerNetwork: 80 * kib}
	cfg.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
}

// sendPart sends a request for a client whose body, announced with this length, lacks its end.
func (f *fixture) sendPart(t *testing.T, path, client string, length int, headers ...string) (net.Conn, *bufio.Reader) {
	t.Helper()

	conn, err := net.Dial("tcp", strings.TrimPrefix(f.http.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(wait.Limit())))

	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n%s\r\n%s",
		path, client, length, strings.Join(append(headers, ""), "\r\n"), strings.Repeat(" ", length-1))
	require.NoError(t, err)

	return conn, bufio.NewReader(conn)
}

// deliver sends an Alertmanager alert for a client.
func (f *fixture) deliver(t *testing.T, client, fingerprint string) answer {
	t.Helper()

	return f.request(t, http.MethodPost, toToken, `{"version":"4","status":"firing","alerts":[{"status":"firing","labels":{"alertname":"Down"},"fingerprint":"`+
		fingerprint+`","startsAt":"2026-11-15T10:00:00Z"}]}`, "Authorization", "Bearer token-of-team-a", "X-Forwarded-For", client)
}

func TestBodiesOfUnknownSendersUseLimitedMemory(t *testing.T) {
	t.Parallel()

	const large, attacker, sender = 40 * kib, "192.0.2.1", "192.0.2.9"

	f := newFixture(t, locked, fewBodies)
	_, key := f.key(t, "viewer", tarsy.ScopeRead)

	held, _ := f.sendPart(t, toSigned, attacker, large)

	wait.Until(t, "the body in memory", func() bool { return f.api.BodyBytes() >= large })

	// First the limit of one address, then that of all together once there are others.
	got := f.request(t, http.MethodPost, toSigned, strings.Repeat(" ", large), "X-Forwarded-For", attacker)
	require.Contains(t, f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeOverloaded).Detail, "from this address")
	require.NotEmpty(t, got.header.Get("Retry-After"))

	f.sendPart(t, toSigned, "192.0.2.2", large)
	wait.Until(t, "two bodies in memory", func() bool { return f.api.BodyBytes() >= 2*large })
	f.sendPart(t, toSigned, "192.0.2.3", 20*kib)
	wait.Until(t, "three bodies in memory", func() bool { return f.api.BodyBytes() >= 2*large+20*kib })

	got = f.request(t, http.MethodPost, toSigned, strings.Repeat(" ", large), "X-Forwarded-For", sender)
	detail := f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeOverloaded).Detail
	require.NotContains(t, detail, "from this address")
	require.LessOrEqual(t, f.api.BodyBytes(), int64(160*kib))

	// A client authenticated by the head of its request is not affected, not even at the attacker's address.
	for _, client := range []string{sender, attacker} {
		require.Equal(t, http.StatusOK, f.deliver(t, client, client).status)
		require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, "/api/v1/sessions", "", append(key, "X-Forwarded-For", client)...).status)
	}

	// A finished request releases its memory.
	before := f.api.BodyBytes()

	require.NoError(t, held.Close())
	wait.Until(t, "the memory back", func() bool { return f.api.BodyBytes() <= before-large })

	got = f.request(t, http.MethodPost, toSigned, strings.Repeat(" ", 30*kib), "X-Forwarded-For", attacker)
	require.Equal(t, http.StatusUnauthorized, got.status, "the signature is looked at again")
}

func TestAnnouncedBodyNeedsNoMemoryBeforeItArrives(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, fewBodies)

	for range 10 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(f.http.URL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })

		_, err = io.WriteString(conn, "POST "+toSigned+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 8000000\r\n\r\n{")
		require.NoError(t, err)
	}

	wait.Until(t, "all of them", func() bool { return f.api.BodyBytes() >= 10*4*kib })
	require.Equal(t, int64(10*4*kib), f.api.BodyBytes())
}

// A body with a valid signature counts as authenticated as soon as it has arrived.
func TestSignedBodiesMakeRoomForUnknownOnes(t *testing.T) {
	t.Parallel()

	f := newFixture(t, locked, fewBodies)
	mac := hmac.New(sha256.New, []byte("secret-of-pagerduty"))
	body := "{" + strings.Repeat(" ", 40*kib) + "}"
	mac.Write([]byte(body))
	signature := "v1=" + hex.EncodeToString(mac.Sum(nil))

	// More in total than unauthenticated requests may hold at a time, one after the other and with others in between.
	for range 4 {
		got := f.request(t, http.MethodPost, toSigned, body, "X-PagerDuty-Signature", signature)
		require.Equal(t, http.StatusBadRequest, got.status, "%s", got.body)

		got = f.request(t, http.MethodPost, toSigned, body, "X-PagerDuty-Signature", "v1=00")
		require.Equal(t, http.StatusUnauthorized, got.status)
	}

	wait.Until(t, "all memory back", func() bool { return f.api.BodyBytes() == 0 })
}

func TestRefusedBodyOfUnknownSenderGivesItsMemoryBack(t *testing.T) {
	t.Parallel()

	const small, client = 40 * kib, "192.0.2.1"

	f := newFixture(t, locked, fewBodies)

	// Authenticated callers leave their address less memory than an unauthenticated one needs.
	var (
		held   []net.Conn
		memory int64
	)

	for _, length := range []int{200 * kib, 128*kib - 1, 20 * kib} {
		conn, _ := f.sendPart(t, toToken, client, length, "Authorization: Bearer token-of-team-a")
		held, memory = append(held, conn), memory+int64(length)

		wait.Until(t, "the body in memory", func() bool { return f.api.BodyBytes() >= memory })
	}

	got := f.request(t, http.MethodPost, toSigned, strings.Repeat(" ", small), "X-Forwarded-For", client)
	f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeOverloaded)

	for _, conn := range held {
		require.NoError(t, conn.Close())
	}

	wait.Until(t, "all memory back", func() bool { return f.api.BodyBytes() == 0 })

	got = f.request(t, http.MethodPost, toSigned, strings.Repeat(" ", small), "X-Forwarded-For", client)
	require.Equal(t, http.StatusUnauthorized, got.status, "the signature is looked at")
}

func TestBodiesOfKnownCallersOfOneAddressAreLimited(t *testing.T) {
	t.Parallel()

	const large, client = 200 * kib, "192.0.2.1"

	f := newFixture(t, locked, fewBodies)

	f.sendPart(t, toToken, client, large, "Authorization: Bearer token-of-team-a")
	wait.Until(t, "the body in memory", func() bool { return f.api.BodyBytes() >= large })

	got := f.request(t, http.MethodPost, toToken, strings.Repeat(" ", large), "X-Forwarded-For", client, "Authorization", "Bearer token-of-team-a")
	f.requireProblem(t, got, http.StatusServiceUnavailable, tarsy.CodeOverloaded)
	require.Equal(t, http.StatusOK, f.deliver(t, client, "small").status)

	got = f.request(t, http.MethodPost, toToken, strings.Repeat(" ", large), "X-Forwarded-For", "192.0.2.2", "Authorization", "Bearer token-of-team-a")
	require.Equal(t, http.StatusBadRequest, got.status, "another address has its own share")
}
