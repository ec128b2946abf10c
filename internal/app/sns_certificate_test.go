package app

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
)

func TestCertificateOfAmazonSNSIsFetchedOnce(t *testing.T) {
	t.Parallel()

	requests := make(chan string, 9)
	fetch := newSNS(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- r.URL.Path

		switch r.URL.Path {
		case "/good.pem":
			w.Header().Set("Content-Type", "binary/octet-stream")
			_, _ = w.Write([]byte("-----BEGIN CERTIFICATE-----"))
		case "/large.pem":
			_, _ = w.Write([]byte(strings.Repeat("x", certificateBytes+1)))
		case "/elsewhere.pem":
			http.Redirect(w, r, "https://bucket.s3.amazonaws.com/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})

	clock := clockwork.NewFakeClock()
	certificates := newSNSCertificates(fetch, clock)
	get := func(path string) (string, error) {
		text, err := certificates.get(t.Context(), "https://"+snsHost+path)

		return string(text), err
	}

	for range 2 {
		text, err := get("/good.pem")
		require.NoError(t, err)
		require.Equal(t, "-----BEGIN CERTIFICATE-----", text)

		for _, refused := range []string{"/large.pem", "/elsewhere.pem", "/missing.pem"} {
			_, err = get(refused)
			require.Error(t, err, refused)
		}
	}

	require.Len(t, requests, 4, "each once, also those that failed")

	clock.Advance(failureTTL + time.Second)

	_, err := get("/missing.pem")
	require.Error(t, err)
	_, err = get("/good.pem")
	require.NoError(t, err)
	require.Len(t, requests, 5, "only the failure is tried again")

	clock.Advance(certificateTTL)

	_, err = get("/good.pem")
	require.NoError(t, err)
	require.Len(t, requests, 6)

	_, err = certificates.get(t.Context(), "https://evil.example/good.pem")
	require.Error(t, err, "no other host is looked up")
}
