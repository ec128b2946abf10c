package stream_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/origin"
	"tarsy.dev/tarsy/internal/stream"
)

func TestOnlyAllowedOriginsConnect(t *testing.T) {
	t.Parallel()

	h := newHub(t, func(cfg *stream.Config) {
		for _, text := range []string{"Dash.example.com", "*.pages.example.com:8443", "https://secure.example.com"} {
			pattern, err := origin.Parse(text)
			require.NoError(t, err)

			cfg.Origins.Allowed = append(cfg.Origins.Allowed, pattern)
		}

		cfg.Origins.Own = "https://public.example"
	})
	id := h.session()
	own := strings.TrimPrefix(h.server.URL, "http://")

	tests := []struct {
		origin           string
		allowed, foreign bool
	}{
		{"", true, false},
		{h.server.URL, true, false},
		{"https://" + own, true, false},         // behind a proxy that ends TLS
		{"https://public.example", true, false}, // behind a proxy that rewrites Host
		{"http://public.example", false, true},
		{"https://public.example.evil.example", false, true},
		{"https://dash.example.com", true, true},
		{"http://DASH.example.com", true, true},
		{"https://a.pages.example.com:8443", true, true},
		{"https://secure.example.com", true, true},
		{"http://secure.example.com", false, true},
		{"https://a.pages.example.com", false, true},
		{"https://dash.example.com.evil.example", false, true},
		{"https://evil.example/dash.example.com", false, true},
		{"http://localhost", false, true},
		{"null", false, true},
		{"://", false, true},
	}
	for _, test := range tests {
		header := http.Header{}
		if test.origin != "" {
			header.Set("Origin", test.origin)
		}

		conn, response, err := websocket.Dial(t.Context(), h.server.URL+"/api/v1/ws", &websocket.DialOptions{HTTPHeader: header})
		require.Equal(t, test.allowed, err == nil, test.origin)

		if conn != nil {
			require.NoError(t, conn.CloseNow())
		}

		e := h.open(t, t.Context(), id, "", "Origin", test.origin)
		defer e.leave()

		if !test.allowed {
			require.Equal(t, http.StatusForbidden, response.StatusCode, test.origin)
			require.Equal(t, "forbidden_origin", body(t, response).Code)
			require.Equal(t, http.StatusForbidden, e.StatusCode, test.origin)
			require.Equal(t, "forbidden_origin", body(t, e.Response).Code)
			require.Empty(t, e.Header.Get("Access-Control-Allow-Origin"))

			continue
		}

		require.Equal(t, http.StatusOK, e.StatusCode, test.origin)

		readable := ""
		if test.foreign {
			readable = test.origin
		}

		require.Equal(t, readable, e.Header.Get("Access-Control-Allow-Origin"), test.origin)
	}
}

func TestPlainRequestToWebSocketGetsUpgradeRequired(t *testing.T) {
	t.Parallel()

	h := newHub(t)

	response, err := h.server.Client().Get(h.server.URL + "/api/v1/ws")
	require.NoError(t, err)

	defer func() { require.NoError(t, response.Body.Close()) }()

	require.Equal(t, http.StatusUpgradeRequired, response.StatusCode)
	require.Equal(t, "websocket", response.Header.Get("Upgrade"))
	require.Equal(t, "upgrade_required", body(t, response).Code)
}
