package api_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

// withManual configures a server with two documents.
func withManual(cfg *api.Config) {
	cfg.Manual = fstest.MapFS{
		"README.md":     {Data: []byte("# Documentation\n\n## Install\n\n[Installation](install.md)\n")},
		"install.md":    {Data: []byte("# Installation\n\n## Proxy\n\n" + strings.Repeat("A proxy. ", 500) + "\n")},
		"images/a.png":  {Data: []byte("\x89PNG")},
		"x.schema.json": {Data: []byte("{}")},
	}
}

func TestManualIsServedWithoutKey(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage, withManual, locked)

	for address, want := range map[string]struct{ mediaType, text string }{
		"/docs":                 {"text/html; charset=utf-8", `<h1 id="documentation">`},
		"/docs/":                {"text/html; charset=utf-8", `<h1 id="documentation">`},
		"/docs/install":         {"text/html; charset=utf-8", `<h2 id="proxy">`},
		"/docs?q=proxy":         {"text/html; charset=utf-8", "<mark>proxy</mark>"},
		"/docs?q=%22%3E%3Ci%3E": {"text/html; charset=utf-8", `value="&#34;&gt;&lt;i&gt;"`},
		"/docs?q=":              {"text/html; charset=utf-8", `<h1 id="documentation">`},
		"/docs/manual.css":      {"text/css; charset=utf-8", "prefers-color-scheme"},
		"/docs/images/a.png":    {"image/png", "\x89PNG"},
		"/docs/x.schema.json":   {"application/json", "{}"},
	} {
		for _, accept := range []string{asBrowser, "*/*", "application/json"} {
			got := f.request(t, http.MethodGet, address, "", "Accept", accept, "Accept-Encoding", "identity", "Host", "tarsy.example")
			require.Equal(t, http.StatusOK, got.status, address)
			require.Equal(t, want.mediaType, got.header.Get("Content-Type"), address)
			require.Contains(t, got.body, want.text, address)
			require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
			require.Equal(t, "same-origin", got.header.Get("Cross-Origin-Resource-Policy"))
			require.Equal(t, "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
				got.header.Get("Content-Security-Policy"))
			require.Empty(t, got.header.Get("Set-Cookie"))

			head := f.request(t, http.MethodHead, address, "", "Accept", accept, "Accept-Encoding", "identity")
			require.Equal(t, http.StatusOK, head.status)
			require.Empty(t, head.body)
			require.Equal(t, got.header.Get("Content-Length"), head.header.Get("Content-Length"))
		}
	}
}

func TestManualIsCompressedWhenAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withManual)

	for _, address := range []string{"/docs/install", "/docs?q=proxy", "/docs/nothing"} {
		plain := f.request(t, http.MethodGet, address, "", "Accept-Encoding", "identity")
		zipped := f.request(t, http.MethodGet, address, "", "Accept-Encoding", "br, gzip")
		require.Equal(t, "gzip", zipped.header.Get("Content-Encoding"), address)
		require.Equal(t, "Accept-Encoding", zipped.header.Get("Vary"), address)
		require.Equal(t, plain.body, unzipped(t, zipped.body), address)
		require.Empty(t, plain.header.Get("Content-Encoding"), address)
	}

	require.Empty(t, f.request(t, http.MethodGet, "/docs/images/a.png", "", "Accept-Encoding", "gzip").header.Get("Content-Encoding"))
}

func TestUnchangedManualIsNotSentAgain(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withManual)

	for _, address := range []string{"/docs/install", "/docs/images/a.png", "/docs/manual.css"} {
		etag := f.request(t, http.MethodGet, address, "").header.Get("ETag")
		require.Regexp(t, `^W/"[0-9a-f]{24}"$`, etag)

		for _, known := range []string{etag, `"other", ` + etag, strings.TrimPrefix(etag, "W/"), "*"} {
			got := f.request(t, http.MethodGet, address, "", "If-None-Match", known)
			require.Equal(t, http.StatusNotModified, got.status, known)
			require.Empty(t, got.body)
			require.Equal(t, "no-cache", got.header.Get("Cache-Control"))
		}

		require.Equal(t, http.StatusOK, f.request(t, http.MethodGet, address, "", "If-None-Match", `"other"`).status)
	}
}

func TestManualHasPageForUnknownAddresses(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage, withManual, locked)

	for _, address := range []string{
		"/docs/nothing", "/docs/nothing.md", "/docs/images", "/docs/images/", "/docs/..%2f", "/docs/..%2finstall", "/docs/%2e%2e/install", "/docs//install", "/docs/./install",
		"/docs/../install", "/docs/..%5cinstall", "/docs/install%00", "/docs/images/../install", "/docs/images/..%2f..%2f..%2fetc%2fpasswd", "/docs/install/x", "/docs/README.md/x",
	} {
		got := f.request(t, http.MethodGet, address, "", "Accept", asBrowser, "Accept-Encoding", "identity")
		require.Equal(t, http.StatusNotFound, got.status, address)
		require.Contains(t, got.body, "<h1>Not found</h1>", address)
		require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'self'", address)
		require.Equal(t, "no-store", got.header.Get("Cache-Control"), address)
	}

	for _, address := range []string{"/docs/../api/v1/sessions", "/docs/..%2fapi/v1/sessions"} {
		f.requireProblem(t, f.request(t, http.MethodGet, address, "", "Accept", asBrowser), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}
}

func TestMarkdownAddressesRedirectToPages(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withManual)
	f.http.Client().CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

	for address, want := range map[string]string{"/docs/install.md": "/docs/install", "/docs/README.md": "/docs"} {
		got := f.request(t, http.MethodGet, address, "")
		require.Equal(t, http.StatusMovedPermanently, got.status, address)
		require.Equal(t, want, got.header.Get("Location"), address)
	}
}

func TestManualOnlyAnswersReads(t *testing.T) {
	t.Parallel()

	f, closed := newFixture(t, withPage, withManual), newFixture(t, withPage, withManual, locked)

	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		f.requireProblem(t, f.request(t, method, "/docs/install", "", "Accept", asBrowser), http.StatusNotFound, tarsy.CodeNotFound)
		closed.requireProblem(t, closed.request(t, method, "/docs", "", "Accept", asBrowser), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}
}

func TestServerWithoutManualLeavesItsAddressesToPage(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage, withManual)
	require.Contains(t, f.request(t, http.MethodGet, "/docsx", "", "Accept", asBrowser, "Accept-Encoding", "identity").body, "csp-nonce")

	without := newFixture(t, withPage)
	require.Contains(t, without.request(t, http.MethodGet, "/docs/install", "", "Accept", asBrowser, "Accept-Encoding", "identity").body, "csp-nonce")
}
