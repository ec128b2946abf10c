// Package certtest creates certificates for tests: an authority and the certificates it signs.
package certtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const lifetime = time.Hour

// Authority signs certificates for 127.0.0.1.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	last int64 // serial number
}

// Pair is a certificate and its key, both in PEM.
type Pair struct {
	Cert, Key []byte
	// Serial distinguishes certificates.
	Serial int64
}

// New creates an authority.
func New(tb testing.TB) *Authority {
	tb.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)

	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority of a test"}, NotBefore: time.Now().Add(-lifetime), NotAfter: time.Now().Add(lifetime),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}

	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(tb, err)

	cert, err := x509.ParseCertificate(raw)
	require.NoError(tb, err)

	return &Authority{cert: cert, key: key, last: 1}
}

// PEM returns the authority's own certificate.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Pool returns a pool that trusts only this authority.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)

	return pool
}

// Issue signs a new certificate.
func (a *Authority) Issue(tb testing.TB) Pair {
	tb.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(tb, err)

	a.last++

	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.last), Subject: pkix.Name{CommonName: "server of a test"}, NotBefore: time.Now().Add(-lifetime), NotAfter: time.Now().Add(lifetime),
		DNSNames: []string{"localhost"}, IPAddresses: loopback(), KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}

	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	require.NoError(tb, err)

	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(tb, err)

	return Pair{
		Cert:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		Key:    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}),
		Serial: a.last,
	}
}

// Files are the paths from which a server reads its certificate.
type Files struct{ Cert, Key, CA string }

// Write writes a new certificate and the authority's to a directory, overwriting existing files.
func (a *Authority) Write(tb testing.TB, dir string) (Files, Pair) {
	tb.Helper()

	files := Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key"), CA: filepath.Join(dir, "ca.crt")}
	pair := a.Issue(tb)

	for path, content := range map[string][]byte{files.Cert: pair.Cert, files.Key: pair.Key, files.CA: a.PEM()} {
		require.NoError(tb, os.WriteFile(path, content, 0o600))
	}

	return files, pair
}

func loopback() []net.IP { return []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback} }
