package runbook_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

// Every test runs in an environment that configures a proxy, which must not be used.
func TestMain(m *testing.M) {
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		if err := os.Setenv(name, "http://proxy.example.org:3128"); err != nil {
			panic(err)
		}
	}
	goleak.VerifyTestMain(m)
}

var (
	hostsOfTests = []string{"github.com", "raw.githubusercontent.com", "api.github.com", "docs.example.org", "raw.example.org"}
	publicIP     = netip.MustParseAddr("140.82.112.3")
)

// internet is a pair of real servers on loopback that stand in for all hosts. Names resolve to public addresses, and
// connections to those are redirected here.
type internet struct {
	plain, secure string
	roots         *x509.CertPool

	mu       sync.Mutex
	handlers map[string]http.HandlerFunc
	requests []*http.Request
	lookups  []string
	dialled  []string
}

func newInternet(t *testing.T) *internet {
	t.Helper()
	certificate, roots := issue(t)
	n := &internet{roots: roots, handlers: map[string]http.HandlerFunc{}}

	plain := httptest.NewServer(n)
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(n)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // some handshakes fail on purpose
	secure.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	n.plain, n.secure = plain.Listener.Addr().String(), secure.Listener.Addr().String()

	return n
}

func (n *internet) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	n.mu.Lock()
	n.requests = append(n.requests, r)
	handler := n.handlers[r.Host]
	n.mu.Unlock()
	if handler == nil {
		handler = answer("text/markdown", "# from "+r.Host)
	}
	handler(w, r)
}

func (n *internet) handle(host string, handler http.HandlerFunc) { n.handlers[host] = handler }

func (n *internet) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lookups = append(n.lookups, host)

	return []netip.Addr{publicIP}, nil
}

func (n *internet) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, fmt.Errorf("was asked to dial a name: %w", err)
	}
	n.mu.Lock()
	n.dialled = append(n.dialled, address)
	n.mu.Unlock()
	server := n.plain
	if to.Port() == 443 || to.Port() == 8443 {
		server = n.secure
	}

	return (&net.Dialer{}).DialContext(ctx, network, server)
}

// seen lists the received requests as "host path".
func (n *internet) seen() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var seen []string
	for _, r := range n.requests {
		seen = append(seen, r.Host+" "+r.RequestURI)
	}

	return seen
}

// fetcher returns a fetcher that uses this internet; change modifies its configuration.
func (n *internet) fetcher(t *testing.T, change func(*runbook.Config)) *runbook.Fetcher {
	t.Helper()
	cfg := runbook.Config{AllowedDomains: hostsOfTests, Resolve: n.resolve, Dial: n.dial, RootCAs: n.roots}
	if change != nil {
		change(&cfg)
	}
	f := runbook.New(cfg)
	t.Cleanup(f.Close)

	return f
}

func answer(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Content-Type"] = []string{contentType}
		fmt.Fprint(w, body)
	}
}

func redirect(to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusFound)
	}
}

func answering(addresses ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		var found []netip.Addr
		for _, a := range addresses {
			found = append(found, netip.MustParseAddr(a))
		}

		return found, nil
	}
}

// requireFailure checks an error that people can be shown.
func requireFailure(t *testing.T, err error, code tarsy.Code, message string) {
	t.Helper()
	var failed *tarsy.Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, code, failed.Code, failed.Message)
	require.Contains(t, failed.Message, message)
	require.NoError(t, failed.Err, "a cause is an internal")
	require.False(t, strings.ContainsAny(failed.Message, "?\n\x00"), failed.Message)
	require.Less(t, len(failed.Message), 300)
}

// issue creates a self-signed certificate for the hosts of the tests.
func issue(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: hostsOfTests, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	leaf, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(leaf)

	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, roots
}

func byHost(addresses map[string]string) func(context.Context, string) ([]netip.Addr, error) {
	return func(_ context.Context, host string) ([]netip.Addr, error) {
		address, err := netip.ParseAddr(addresses[host])

		return []netip.Addr{address}, err
	}
}
