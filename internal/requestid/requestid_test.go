package requestid_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/requestid"
)

func TestRequestHasIDOfCallerOrNewOne(t *testing.T) {
	t.Parallel()

	ask := func(sent string) (seen, answered, logged string) {
		var log bytes.Buffer

		logger := slog.New(requestid.NewHandler(slog.NewTextHandler(&log, nil))).With("part", "test").WithGroup("group")
		handler := requestid.Middleware(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen = requestid.From(r.Context())
			logger.InfoContext(r.Context(), "handled")
		}))
		request, answer := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil), httptest.NewRecorder()
		request.Header.Set(requestid.Header, sent)
		handler.ServeHTTP(answer, request)

		return seen, answer.Header().Get(requestid.Header), log.String()
	}

	for sent, want := range map[string]string{
		"abc-123":                           "abc-123",
		"a b\nlevel=ERROR \"x\"\x1b[31m":    "ablevel=ERRORx31m",
		strings.Repeat("x", 1000):           strings.Repeat("x", 128),
		"0af7651916cd43dd8448eb211c80319c@": "0af7651916cd43dd8448eb211c80319c@",
	} {
		seen, answered, logged := ask(sent)
		require.Equal(t, want, seen)
		require.Equal(t, want, answered)
		require.Contains(t, logged, "group.request_id="+slogText(want))
		require.Equal(t, 1, strings.Count(logged, "\n"))
	}

	for _, sent := range []string{"", "\n", "é"} {
		first, answered, _ := ask(sent)
		require.NotEmpty(t, first)
		require.Equal(t, first, answered)

		second, _, _ := ask(sent)
		require.NotEqual(t, first, second)
	}
}

// slogText formats a value like the text handler.
func slogText(value string) string {
	if strings.Contains(value, "=") {
		return `"` + value + `"`
	}

	return value
}

func TestLineWithoutRequestHasNoID(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	slog.New(requestid.NewHandler(slog.NewTextHandler(&log, nil))).InfoContext(t.Context(), "started")
	require.NotContains(t, log.String(), "request_id")
}
