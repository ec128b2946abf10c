package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLongAnswersAreCompressedForWhomAccepts(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	plain := f.request(t, http.MethodGet, "/openapi.json", "", "Accept-Encoding", "identity")
	require.Equal(t, http.StatusOK, plain.status)
	require.Empty(t, plain.header.Get("Content-Encoding"))
	require.Greater(t, len(plain.body), 1400, "long enough to matter")

	got := f.request(t, http.MethodGet, "/openapi.json", "", "Accept-Encoding", "gzip, br")
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
	require.Equal(t, "Accept-Encoding", got.header.Get("Vary"))
	require.Less(t, len(got.body), len(plain.body)/2)
	require.True(t, json.Valid([]byte(unzipped(t, got.body))))
}

func TestShortAnswersAndLoginsAreNotCompressed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, address := range []string{"/api/v1/me", "/api/v1/sessions", "/api/v1/sessions/unknown"} {
		got := f.request(t, http.MethodGet, address, "", "Accept-Encoding", "gzip")
		require.Empty(t, got.header.Get("Content-Encoding"), address)
		require.True(t, json.Valid([]byte(got.body)), address)
	}
}
