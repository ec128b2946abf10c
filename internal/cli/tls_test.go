package cli_test

import (
	"crypto/tls"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/kit/certtest"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestServeOverTLSIsFollowedByClientsThatTrustItsAuthority(t *testing.T) {
	t.Parallel()

	authority := certtest.New(t)
	files, _ := authority.Write(t, t.TempDir())
	s := startServerWith(t, true, "system: {tls: {cert_file: "+files.Cert+", key_file: "+files.Key+"}}", nil)
	s.env = []string{"TARSY_SERVER=https://" + s.Addr(), "HOME=" + t.TempDir()}
	env := s.key(t, "writer", "write")

	got := tarsyWith(t, env, "", "submit", "-m", "checkout is slow", "--wait")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stderr, "certificate signed by unknown authority")
	require.Contains(t, got.stderr, "set its file with --ca-cert or TARSY_CA_CERT")

	got = tarsyWith(t, env, "", "submit", "-m", "checkout is slow", "--wait", "--ca-cert", files.CA)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "# Found it\n\nThe cache has no bound.\n", got.stdout)

	got = tarsyWith(t, append(env, "TARSY_CA_CERT="+files.CA), "", "smoke")
	require.Equal(t, cli.ExitOK, got.code, got.stdout)

	got = tarsyWith(t, env, "", "sessions", "--ca-cert", files.Key)
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.stderr, "has no certificate in PEM format")

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.Pool(), MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)

	token, _ := strings.CutPrefix(env[0], "TARSY_TOKEN=")
	socket, _, err := websocket.Dial(t.Context(), "wss://"+s.Addr()+"/api/v1/ws", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}},
	})
	require.NoError(t, err)

	_, message, err := socket.Read(t.Context())
	require.NoError(t, err)
	require.Contains(t, string(message), `"connection.established"`)
	require.NoError(t, socket.Close(websocket.StatusNormalClosure, ""))
}

func TestServeTakesCertificateFromFlags(t *testing.T) {
	t.Parallel()

	files, _ := certtest.New(t).Write(t, t.TempDir())
	env := []string{"TARSY_DATABASE_URL=" + pgtest.New(t), "TARSY_LISTEN=127.0.0.1:0", "TARSY_TLS_KEY=" + files.Key}

	refused := tarsyWith(t, env, "", "serve")
	require.Equal(t, cli.ExitFailed, refused.code)
	require.Contains(t, refused.stderr, "system.tls.cert_file: is required")

	served := start(t, env, "serve", "--tls-cert", files.Cert)
	text := served.stderr.wait(t, "TARSy listens on ")
	server := regexp.MustCompile(`TARSy listens on (https://127\.0\.0\.1:\d+)`).FindStringSubmatch(text)
	require.NotNil(t, server, text)
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "sessions", "--server", server[1], "--ca-cert", files.CA).code)
	require.Equal(t, cli.ExitOK, served.end())

	doctor := tarsyWith(t, nil, "", doctorArgs(t, "--tls-cert", files.Cert, "--tls-key", files.Key)...)
	require.Regexp(t, `warn  TLS certificate: for localhost, 127\.0\.0\.1, ::1, valid until `, doctor.stdout)

	doctor = tarsyWith(t, nil, "", doctorArgs(t, "--tls-cert", files.Cert, "--tls-key", files.CA)...)
	require.Equal(t, cli.ExitFailed, doctor.code)
	require.Contains(t, doctor.stdout, "fail  TLS certificate: ")
}
