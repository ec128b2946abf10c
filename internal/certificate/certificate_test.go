package certificate_test

import (
	"bytes"
	"crypto/tls"
	"log/slog"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/certificate"
	"tarsy.dev/tarsy/internal/kit/certtest"
)

// fixture serves a certificate in real handshakes.
type fixture struct {
	authority *certtest.Authority
	dir       string
	files     certtest.Files
	clock     *clockwork.FakeClock
	log       *bytes.Buffer
	noted     []error
	served    *certificate.Files
}

func open(t *testing.T) (*fixture, certtest.Pair) {
	t.Helper()

	f := &fixture{authority: certtest.New(t), dir: t.TempDir(), clock: clockwork.NewFakeClock(), log: &bytes.Buffer{}}

	var (
		pair certtest.Pair
		err  error
	)

	f.files, pair = f.authority.Write(t, f.dir)
	f.served, err = certificate.Open(t.Context(), certificate.Config{
		CertFile: f.files.Cert, KeyFile: f.files.Key, Note: func(err error) { f.noted = append(f.noted, err) }, Clock: f.clock,
		Logger: slog.New(slog.NewTextHandler(f.log, nil)),
	})
	require.NoError(t, err)

	return f, pair
}

// serial connects and returns the serial number of the server's certificate.
func (f *fixture) serial(t *testing.T) int64 {
	t.Helper()

	serverEnd, clientEnd := net.Pipe()
	server := tls.Server(serverEnd, &tls.Config{GetCertificate: f.served.Certificate, MinVersion: tls.VersionTLS12})
	client := tls.Client(clientEnd, &tls.Config{RootCAs: f.authority.Pool(), ServerName: "localhost", MinVersion: tls.VersionTLS12})
	done := make(chan error, 1)

	go func() { done <- server.HandshakeContext(t.Context()) }()

	require.NoError(t, client.HandshakeContext(t.Context()))
	require.NoError(t, <-done)

	serial := client.ConnectionState().PeerCertificates[0].SerialNumber.Int64()

	require.NoError(t, clientEnd.Close())
	require.NoError(t, serverEnd.Close())

	return serial
}

func TestChangedCertificateIsUsedByLaterHandshakes(t *testing.T) {
	t.Parallel()

	f, first := open(t)
	require.Equal(t, first.Serial, f.serial(t))

	_, second := f.authority.Write(t, f.dir)
	require.Equal(t, first.Serial, f.serial(t), "files are not read at every handshake")
	require.Empty(t, f.noted)

	f.clock.Advance(certificate.CheckEvery)
	require.Equal(t, second.Serial, f.serial(t))
	require.Equal(t, []error{nil}, f.noted)
	require.Equal(t, 2, strings.Count(f.log.String(), `msg="TLS certificate loaded"`), f.log)

	f.clock.Advance(certificate.CheckEvery)
	require.Equal(t, second.Serial, f.serial(t))
	require.Equal(t, 2, strings.Count(f.log.String(), "TLS certificate loaded"), "what has not changed is not loaded again")
}

func TestBrokenCertificateLeavesThePreviousInUse(t *testing.T) {
	t.Parallel()

	f, first := open(t)

	for name, damage := range map[string]func(){
		"cut off":     func() { require.NoError(t, os.WriteFile(f.files.Cert, []byte("-----BEGIN CERTIFICATE-----\n"), 0o600)) },
		"another key": func() { require.NoError(t, os.WriteFile(f.files.Key, f.authority.Issue(t).Key, 0o600)) },
		"no key":      func() { require.NoError(t, os.Remove(f.files.Key)) },
	} {
		damage()
		f.clock.Advance(certificate.CheckEvery)
		require.Equal(t, first.Serial, f.serial(t), name)
		require.Error(t, f.noted[len(f.noted)-1], name)
	}

	require.Equal(t, 1, strings.Count(f.log.String(), "level=WARN"), "it is not logged at every look: %s", f.log)
	require.NotContains(t, f.log.String(), "PRIVATE KEY")

	_, second := f.authority.Write(t, f.dir)
	f.clock.Advance(certificate.CheckEvery)
	require.Equal(t, second.Serial, f.serial(t))
	require.NoError(t, f.noted[len(f.noted)-1])
	require.Contains(t, f.log.String(), "TLS certificate can be loaded again")
}

func TestCertificateThatCannotBeUsedIsRefusedWithReason(t *testing.T) {
	t.Parallel()

	authority := certtest.New(t)
	files, _ := authority.Write(t, t.TempDir())
	others, _ := authority.Write(t, t.TempDir())

	_, err := certificate.Load(files.Cert, files.Cert+".missing")
	require.ErrorContains(t, err, "read the key of the TLS certificate: open ")

	_, err = certificate.Load(files.Cert, others.Key)
	require.ErrorContains(t, err, "private key does not match public key")

	_, err = certificate.Open(t.Context(), certificate.Config{CertFile: files.Key, KeyFile: files.Key, Clock: clockwork.NewFakeClock()})
	require.ErrorContains(t, err, "the TLS certificate "+files.Key)

	pair, err := certificate.Load(files.Cert, files.Key)
	require.NoError(t, err)
	require.Equal(t, []string{"localhost", "127.0.0.1", "::1"}, certificate.Names(pair))
}
