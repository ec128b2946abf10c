package app

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/alert"
	"tarsy.dev/tarsy/internal/runbook"
)

const snsHost = "sns.eu-central-1.amazonaws.com"

// newSNS serves HTTPS for the host of Amazon SNS, and returns a configuration that reaches it and trusts its certificate.
func newSNS(t *testing.T, handler http.HandlerFunc) runbook.Config {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)

	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{snsHost}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)

	certificate, err := x509.ParseCertificate(raw)
	require.NoError(t, err)

	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	t.Cleanup(server.Close)

	roots := x509.NewCertPool()
	roots.AddCert(certificate)

	return runbook.Config{
		RootCAs: roots,
		Resolve: func(_ context.Context, host string) ([]netip.Addr, error) {
			if host != snsHost {
				return nil, errors.New("another host was looked up: " + host)
			}

			return []netip.Addr{netip.MustParseAddr("52.46.128.1")}, nil
		},
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
		},
	}
}

func TestSubscriptionIsConfirmedOverHTTPSAndNoRedirectIsFollowedElsewhere(t *testing.T) {
	t.Parallel()

	requests := make(chan string, 4)
	fetch := newSNS(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Method + " " + r.Host + r.URL.String()

		if r.URL.Query().Get("Token") == "elsewhere" {
			http.Redirect(w, r, "https://bucket.s3.amazonaws.com/", http.StatusFound)

			return
		}

		w.Header().Set("Content-Type", "text/xml")
		_, _ = w.Write([]byte("<ConfirmSubscriptionResponse/>"))
	})

	var logs bytes.Buffer

	confirm := (&App{logger: slog.New(slog.NewTextHandler(&logs, nil))}).confirmSubscription(fetch)
	address := "https://" + snsHost + "/?Action=ConfirmSubscription&Token="

	require.NoError(t, confirm(t.Context(), alert.Subscription{Topic: "arn:aws:sns:eu-central-1:1:alarms", URL: address + "right"}))
	require.Equal(t, "GET "+snsHost+"/?Action=ConfirmSubscription&Token=right", <-requests)

	require.ErrorContains(t, confirm(t.Context(), alert.Subscription{URL: address + "elsewhere"}), "not allowed")
	require.Contains(t, logs.String(), "Token=elsewhere", "the operator can confirm it")
	require.Len(t, requests, 1, "the redirect was not followed")

	// Even if a name server returns an internal address, no connection to it is made.
	fetch.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("169.254.169.254")}, nil
	}
	confirm = (&App{logger: slog.New(slog.DiscardHandler)}).confirmSubscription(fetch)
	require.ErrorContains(t, confirm(t.Context(), alert.Subscription{URL: address + "right"}), "not on the public internet")
	require.Len(t, requests, 1)
}
