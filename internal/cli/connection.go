package cli

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"

	"github.com/spf13/cobra"

	"tarsy.dev/tarsy/internal/client"
)

// defaultServer is the default address of tarsy serve.
const defaultServer = "http://127.0.0.1:8080"

// connection holds the flags of commands that connect to a server.
type connection struct {
	server string
	token  string
	// caCert is a file with certificate authorities to trust in addition to the system's.
	caCert string
}

func connectionFlags(cmd *cobra.Command) *connection {
	c := &connection{}
	cmd.Flags().StringVar(&c.server, "server", defaultServer, "address of the server")
	cmd.Flags().StringVar(&c.token, "token", "", "API key, if the server requires one")
	cmd.Flags().StringVar(&c.caCert, "ca-cert", "", "PEM file of authorities that may have signed the server's certificate, besides those of the system")
	withEnv(cmd.Flags(), "server", "TARSY_SERVER")
	withEnv(cmd.Flags(), "token", "TARSY_TOKEN")
	withEnv(cmd.Flags(), "ca-cert", "TARSY_CA_CERT")

	return c
}

func (c *connection) open() (*client.Client, error) { return c.openWith(c.token) }

// openWith connects with another key, or without one.
func (c *connection) openWith(token string) (*client.Client, error) {
	transport, err := c.httpClient()
	if err != nil {
		return nil, usageError{fmt.Errorf("--ca-cert, TARSY_CA_CERT: %w", err)}
	}

	return client.New(client.Config{Server: c.server, Token: token, UserAgent: userAgent(), HTTP: transport})
}

var errNoAuthority = errors.New("has no certificate in PEM format")

// httpClient returns a client that trusts the authorities of --ca-cert, or nil if the flag is not set.
func (c *connection) httpClient() (*http.Client, error) {
	if c.caCert == "" {
		return nil, nil //nolint:nilnil // the client makes its own
	}

	pem, err := os.ReadFile(c.caCert)
	if err != nil {
		return nil, fmt.Errorf("read the authorities: %w", err)
	}

	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}

	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s %w", c.caCert, errNoAuthority)
	}

	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}

	return &http.Client{Transport: transport}, nil
}
