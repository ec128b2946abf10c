package app

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/certificate"
	"tarsy.dev/tarsy/internal/kit/certtest"
	"tarsy.dev/tarsy/internal/limit"
)

// secured is a server that answers probes over TLS, without the parts that need a database.
type secured struct {
	*App

	authority *certtest.Authority
	dir       string
	clock     *clockwork.FakeClock
	log       *bytes.Buffer // read it only after the server has stopped
}

func serveTLS(t *testing.T, more string) (*secured, certtest.Pair) {
	t.Helper()

	s := &secured{authority: certtest.New(t), dir: t.TempDir(), clock: clockwork.NewFakeClock(), log: &bytes.Buffer{}}
	files, pair := s.authority.Write(t, s.dir)
	s.App = newApp(Options{
		Config: load(t, fmt.Sprintf("system: {tls: {cert_file: %s, key_file: %s}%s}", files.Cert, files.Key, more)), Listen: "127.0.0.1:0", Clock: s.clock,
		Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	})

	require.NoError(t, s.openCertificate(t.Context()))
	require.NoError(t, s.listen(t.Context()))
	s.serveHTTP()
	t.Cleanup(func() { require.NoError(t, s.Stop(context.WithoutCancel(t.Context()))) })

	return s, pair
}

// dial connects and performs a handshake.
func (s *secured) dial(t *testing.T, change func(*tls.Config)) (*tls.Conn, error) {
	t.Helper()

	cfg := &tls.Config{RootCAs: s.authority.Pool(), MinVersion: tls.VersionTLS12}
	if change != nil {
		change(cfg)
	}

	conn, err := (&tls.Dialer{Config: cfg}).DialContext(t.Context(), "tcp", s.Addr())
	if err != nil {
		return nil, err
	}

	t.Cleanup(func() { _ = conn.Close() })

	secure, ok := conn.(*tls.Conn)
	require.True(t, ok)

	return secure, nil
}

func serialOf(conn *tls.Conn) int64 {
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestListenerSpeaksHTTP2OverTLSFromVersion12On(t *testing.T) {
	t.Parallel()

	s, _ := serveTLS(t, "")

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.authority.Pool(), MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)

	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+s.Addr()+"/livez", nil)
	require.NoError(t, err)

	response, err := (&http.Client{Transport: transport}).Do(request)
	require.NoError(t, err)

	body, err := io.ReadAll(response.Body)
	require.NoError(t, errors.Join(err, response.Body.Close()))
	require.Equal(t, "HTTP/2.0", response.Proto)
	require.JSONEq(t, `{"status":"ok"}`, string(body))

	_, err = s.dial(t, func(cfg *tls.Config) { cfg.MinVersion, cfg.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	require.ErrorContains(t, err, "protocol version not supported")

	conn, err := s.dial(t, func(cfg *tls.Config) { cfg.MaxVersion = tls.VersionTLS12 })
	require.NoError(t, err)
	require.NoError(t, conn.Close())

	plain, err := http.Get("http://" + s.Addr() + "/livez")
	require.NoError(t, err)

	body, err = io.ReadAll(plain.Body)
	require.NoError(t, errors.Join(err, plain.Body.Close()))
	require.Equal(t, http.StatusBadRequest, plain.StatusCode)
	require.Contains(t, string(body), "Client sent an HTTP request to an HTTPS server")

	require.NoError(t, s.Stop(t.Context()))
	require.Equal(t, 1, bytes.Count(s.log.Bytes(), []byte(`level=WARN msg="TLS handshake failed"`)), "failures are counted, not logged one by one: %s", s.log)
}

func TestListenerUsesRenewedCertificateAndWarnsOfBrokenOne(t *testing.T) {
	t.Parallel()

	s, first := serveTLS(t, "")
	old, err := s.dial(t, nil)
	require.NoError(t, err)
	require.Equal(t, first.Serial, serialOf(old))

	_, second := s.authority.Write(t, s.dir)
	s.clock.Advance(certificate.CheckEvery)

	renewed, err := s.dial(t, nil)
	require.NoError(t, err)
	require.Equal(t, second.Serial, serialOf(renewed))

	_, err = io.WriteString(old, "GET /livez HTTP/1.1\r\nHost: tarsy\r\nConnection: close\r\n\r\n")
	require.NoError(t, err)

	answer, err := io.ReadAll(old)
	require.NoError(t, err)
	require.Contains(t, string(answer), "200 OK", "a connection from before goes on")
	require.Empty(t, s.warnings.list())

	require.NoError(t, os.WriteFile(s.options.Config.System.TLS.KeyFile, s.authority.Issue(t).Key, 0o600))
	s.clock.Advance(certificate.CheckEvery)

	kept, err := s.dial(t, nil)
	require.NoError(t, err)
	require.Equal(t, second.Serial, serialOf(kept))
	require.Len(t, s.warnings.list(), 1)
	require.Contains(t, s.warnings.list()[0].Details, "private key does not match public key")

	_, third := s.authority.Write(t, s.dir)
	s.clock.Advance(certificate.CheckEvery)

	repaired, err := s.dial(t, nil)
	require.NoError(t, err)
	require.Equal(t, third.Serial, serialOf(repaired))
	require.Empty(t, s.warnings.list())
}

func TestServerWithUnusableCertificateDoesNotListen(t *testing.T) {
	t.Parallel()

	_, err := New(t.Context(), Options{
		Config: load(t, "system: {tls: {cert_file: /nonexistent/tls.crt, key_file: /nonexistent/tls.key}}"), Listen: "127.0.0.1:0",
	})
	require.ErrorContains(t, err, "system.tls: read the TLS certificate: open /nonexistent/tls.crt")
}

func TestConnectionLimitHoldsOverTLS(t *testing.T) {
	t.Parallel()

	s, _ := serveTLS(t, ", max_connections: 1")
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, limit.Reserved(r.Context()))

		if r.URL.Path == "/stay" {
			limit.Prove(r.Context())
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}
	})
	s.started.Store(true)

	ask := func(path string) (reserved string) {
		conn, err := s.dial(t, nil)
		require.NoError(t, err)

		_, err = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: tarsy\r\n\r\n")
		require.NoError(t, err)

		// Closing the body would wait for the end of an answer that has none.
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)

		raw := make([]byte, len("true"))
		_, err = io.ReadFull(response.Body, raw)
		require.NoError(t, err)

		return string(raw)
	}

	require.Equal(t, "fals", ask("/"))
	require.Equal(t, "fals", ask("/stay"), "an idle connection gives way")
	require.Equal(t, "true", ask("/"), "one with a request of somebody who is known does not: only health checks are answered beyond the limit")
}
