package api_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
)

const (
	script = "console.log('hello');\n"
	// asBrowser is what browsers send when a user opens an address.
	asBrowser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
)

// withPage configures a server with a page.
func withPage(cfg *api.Config) {
	cfg.Dashboard = fstest.MapFS{
		"index.html":       {Data: []byte(`<meta property="csp-nonce" content="__CSP_NONCE__"><style nonce="__CSP_NONCE__"></style>`)},
		"favicon.svg":      {Data: []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`)},
		"assets/main-1.js": {Data: []byte(strings.Repeat(script, 100))},
		"assets/page-1.js": {Data: []byte(script)},
		// The build compresses it; here it only has to differ.
		"assets/page-1.js.br": {Data: []byte("brotli")},
		"assets/font-1.bin":   {Data: []byte{0, 1, 2}},
		"assets/font.woff2":   {Data: []byte{0, 1, 2}},
		"assets/.hidden":      {Data: []byte("nobody's business")},
		"assets/style-1.css":  {Data: []byte("body{}")},
	}
}

func TestPageIsServedToBrowsersOutsideAPIPaths(t *testing.T) {
	t.Parallel()

	for name, options := range map[string][]func(*api.Config){"keys required": {withPage, locked}, "no keys": {withPage}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t, options...)
			nonces := map[string]bool{}

			for _, address := range []string{
				"/", "/sessions", "/sessions/1/trace", "/sessions/", "/?status=failed&q=%zz&q=2", "/login", "/index.html", "/apidocs", "/%2e%2e",
			} {
				got := f.request(t, http.MethodGet, address, "", "Accept", asBrowser, "Accept-Encoding", "identity")
				require.Equal(t, http.StatusOK, got.status, "%s: %s", address, got.body)
				require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"))
				require.Equal(t, "no-store", got.header.Get("Cache-Control"))
				require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
				require.Equal(t, "no-referrer", got.header.Get("Referrer-Policy"))
				require.Equal(t, "same-origin", got.header.Get("Cross-Origin-Opener-Policy"))
				require.Contains(t, got.header.Get("Permissions-Policy"), "camera=()")
				require.Empty(t, got.header.Get("Set-Cookie"))

				nonce := regexp.MustCompile(`'nonce-(\w{26})'`).FindStringSubmatch(got.header.Get("Content-Security-Policy"))
				require.Len(t, nonce, 2)
				require.Equal(t, `<meta property="csp-nonce" content="`+nonce[1]+`"><style nonce="`+nonce[1]+`"></style>`, got.body)
				require.False(t, nonces[nonce[1]], "every answer has its own")
				nonces[nonce[1]] = true

				head := f.request(t, http.MethodHead, address, "", "Accept", asBrowser)
				require.Equal(t, http.StatusOK, head.status)
				require.Equal(t, got.header.Get("Content-Length"), head.header.Get("Content-Length"))
			}
		})
	}
}

func TestPageIsServedUnlessClientAsksForJSON(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage, locked)

	for _, accept := range []string{"*/*", "", "text/*", "text/plain", "text/html, application/json;q=0.5"} {
		got := f.request(t, http.MethodGet, "/", "", "Accept", accept)
		require.Equal(t, http.StatusOK, got.status, accept)
		require.Equal(t, "text/html; charset=utf-8", got.header.Get("Content-Type"), accept)
	}
}

func TestPagePolicyAllowsOwnContentOnly(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage)
	policy := f.request(t, http.MethodGet, "/", "", "Accept", "text/html").header.Get("Content-Security-Policy")
	require.Equal(t, "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-N'; img-src 'self' data:; font-src 'self'; "+
		"connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; manifest-src 'self'",
		regexp.MustCompile(`nonce-\w+`).ReplaceAllString(policy, "nonce-N"))
}

func TestAPIPathsAndOtherClientsNeverGetPage(t *testing.T) {
	t.Parallel()

	f, closed := newFixture(t, withPage), newFixture(t, withPage, locked)

	for _, c := range []struct{ method, address, accept string }{
		{http.MethodGet, "/api", asBrowser},
		{http.MethodGet, "/api/", asBrowser},
		{http.MethodGet, "/api/v1/nothing", asBrowser},
		{http.MethodGet, "/api/v2/sessions", asBrowser},
		{http.MethodGet, "//api/v1/sessions", asBrowser},
		{http.MethodGet, "/x/../api/v1/sessions", asBrowser},
		{http.MethodGet, "/api%2Fv1%2Fsessions", asBrowser},
		{http.MethodGet, "/assets/main-0.js", asBrowser},
		{http.MethodGet, "/assets/.hidden", asBrowser},
		{http.MethodPost, "/sessions", asBrowser},
		{http.MethodGet, "/", "application/json"},
		{http.MethodGet, "/", "text/html;q=0, */*"},
		{http.MethodGet, "/sessions", "*/*"},
		{http.MethodGet, "/sessions", "application/json, */*"},
		{http.MethodGet, "/sessions", "application/problem+json"},
		{http.MethodGet, "/sessions", "text/html;q=0, */*"},
	} {
		problem := f.requireProblem(t, f.request(t, c.method, c.address, "", "Accept", c.accept), http.StatusNotFound, tarsy.CodeNotFound)
		require.Equal(t, !strings.Contains(c.address, "api"), strings.Contains(problem.Detail, "a browser finds the dashboard at /"), c.address)
		closed.requireProblem(t, closed.request(t, c.method, c.address, "", "Accept", c.accept), http.StatusUnauthorized, tarsy.CodeUnauthenticated)
	}

	f.requireProblem(t, f.request(t, http.MethodGet, "/api/v1/alerts", "", "Accept", asBrowser), http.StatusMethodNotAllowed, tarsy.CodeMethodNotAllowed)
	require.Equal(t, "application/json", f.request(t, http.MethodGet, "/health", "", "Accept", asBrowser).header.Get("Content-Type"))
}

func TestPageFilesArePublicAndImmutable(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage, locked)

	for address, want := range map[string]struct{ mediaType, cache string }{
		"/assets/main-1.js":   {"text/javascript; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/style-1.css": {"text/css; charset=utf-8", "public, max-age=31536000, immutable"},
		"/assets/font.woff2":  {"font/woff2", "public, max-age=31536000, immutable"},
		"/assets/font-1.bin":  {"application/octet-stream", "public, max-age=31536000, immutable"},
		"/favicon.svg":        {"image/svg+xml", "public, max-age=3600"},
	} {
		got := f.request(t, http.MethodGet, address, "", "Host", "tarsy.example")
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Equal(t, want.mediaType, got.header.Get("Content-Type"))
		require.Equal(t, want.cache, got.header.Get("Cache-Control"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
		require.Contains(t, got.header.Get("Content-Security-Policy"), "default-src 'none'")
		require.Equal(t, http.StatusOK, f.request(t, http.MethodHead, address, "").status)
	}
}

func TestTextFilesAreCompressedWhenAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage)
	text := strings.Repeat(script, 100)

	for accept, compressed := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "gzip;q=1.0, *": true,
		"identity": false, "gzip;q=0": false, "br": false, "x-gzip-not": false,
	} {
		got := f.request(t, http.MethodGet, "/assets/main-1.js", "", "Accept-Encoding", accept)
		require.Equal(t, "Accept-Encoding", got.header.Get("Vary"))

		if !compressed {
			require.Empty(t, got.header.Get("Content-Encoding"), accept)
			require.Equal(t, text, got.body)

			continue
		}

		require.Equal(t, "gzip", got.header.Get("Content-Encoding"), accept)
		require.Less(t, len(got.body), len(text)/10)

		require.Equal(t, text, unzipped(t, got.body))
	}

	require.Empty(t, f.request(t, http.MethodGet, "/assets/font.woff2", "", "Accept-Encoding", "gzip").header.Get("Content-Encoding"))
}

func TestTextFilesAreSentAsBrotliWhenBuiltAndAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t, withPage)

	for accept, want := range map[string]string{"gzip, deflate, br, zstd": "br", "br": "br", "gzip, br;q=0": "gzip", "identity": ""} {
		got := f.request(t, http.MethodGet, "/assets/page-1.js", "", "Accept-Encoding", accept)
		require.Equal(t, want, got.header.Get("Content-Encoding"), accept)
		require.Equal(t, "text/javascript; charset=utf-8", got.header.Get("Content-Type"))
		require.Equal(t, "public, max-age=31536000, immutable", got.header.Get("Cache-Control"))
		require.Equal(t, want == "br", got.body == "brotli", accept)
	}

	got := f.request(t, http.MethodGet, "/assets/page-1.js.br", "", "Accept", asBrowser)
	f.requireProblem(t, got, http.StatusNotFound, tarsy.CodeNotFound)
}

func TestPageIsCompressedWhenAccepted(t *testing.T) {
	t.Parallel()

	got := newFixture(t, withPage).request(t, http.MethodGet, "/", "", "Accept", asBrowser, "Accept-Encoding", "gzip, br")
	require.Equal(t, "gzip", got.header.Get("Content-Encoding"))
	require.Equal(t, "Accept, Accept-Encoding", got.header.Get("Vary"))
	require.Contains(t, unzipped(t, got.body), `<meta property="csp-nonce"`)
}

func unzipped(t *testing.T, body string) string {
	t.Helper()

	reader, err := gzip.NewReader(strings.NewReader(body))
	require.NoError(t, err)

	plain, err := io.ReadAll(reader)
	require.NoError(t, err)

	return string(plain)
}

func TestServerWithoutPageServesAPIOnly(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	problem := f.requireProblem(t, f.request(t, http.MethodGet, "/", "", "Accept", asBrowser), http.StatusNotFound, tarsy.CodeNotFound)
	require.NotContains(t, problem.Detail, "dashboard")
}
