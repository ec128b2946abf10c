package runbook_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

const token = "ghp_very-secret"

func TestTokenIsSentToGitHubOverHTTPSOnly(t *testing.T) {
	t.Parallel()

	for url, sent := range map[string]bool{
		"https://github.com/o/r/wiki":                true,
		"https://github.com/o/r/blob/main/a.md":      true,
		"https://raw.githubusercontent.com/o/r/a.md": true,
		"https://api.github.com/repos/o/r/contents":  true,
		"http://github.com/o/r/blob/main/b.md":       true, // which is fetched over https
		"http://raw.githubusercontent.com/o/r/a.md":  false,
		"http://api.github.com:443/repos":            false,
		"https://raw.githubusercontent.com:8443/o/r": false,
		"https://docs.example.org/a.md":              false,
		"https://raw.example.org/a.md":               false,
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			if url == "http://api.github.com:443/repos" {
				n.secure = n.plain // a server that speaks HTTP on the HTTPS port
			}
			f := n.fetcher(t, func(cfg *runbook.Config) { cfg.GitHubToken = token + "\n" })

			_, err := f.Fetch(t.Context(), url)

			require.NoError(t, err)
			require.Len(t, n.requests, 1)
			if sent {
				require.Equal(t, "Bearer "+token, n.requests[0].Header.Get("Authorization"))
			} else {
				require.NotContains(t, fmt.Sprint(n.requests[0].Header), token)
			}
		})
	}
}

func TestRequestAcceptsPlainTextAndUsesNoProxy(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, nil)

	for _, url := range []string{"http://docs.example.org/a", "https://docs.example.org/b"} {
		_, err := f.Fetch(t.Context(), url)
		require.NoError(t, err)
	}

	// A proxy would have received the whole URL, or a CONNECT.
	require.Equal(t, []string{"docs.example.org /a", "docs.example.org /b"}, n.seen())
	require.Equal(t, []string{publicIP.String() + ":80", publicIP.String() + ":443"}, n.dialled)
	for _, r := range n.requests {
		require.Equal(t, http.MethodGet, r.Method)
		require.Equal(t, []string{"identity"}, r.Header["Accept-Encoding"])
		require.Equal(t, []string{"tarsy"}, r.Header["User-Agent"])
	}
}

func TestRedirectIsSeparateRequest(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.handle("api.github.com", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "secret"})
		w.Header().Set("Location", "https://docs.example.org/b?signature=1#part")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.GitHubToken = token })

	text, err := f.Fetch(t.Context(), "https://api.github.com/a?token=1")

	require.NoError(t, err)
	require.Equal(t, "# from docs.example.org", text)
	require.Equal(t, []string{"api.github.com /a?token=1", "docs.example.org /b?signature=1"}, n.seen())
	require.Equal(t, "Bearer "+token, n.requests[0].Header.Get("Authorization"))
	for _, header := range []string{"Authorization", "Cookie", "Referer"} {
		require.Empty(t, n.requests[1].Header.Get(header), header)
	}
}

func TestEveryRedirectIsCheckedAgain(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		to   string
		code tarsy.Code
		says string
	}{
		"https to http":       {"http://docs.example.org/b", tarsy.CodeForbidden, "redirects from https to http"},
		"another scheme":      {"ftp://docs.example.org/b", tarsy.CodeForbidden, "redirects to an address that does not start with"},
		"a file":              {"file:///etc/passwd", tarsy.CodeForbidden, "redirects to an address that does not start with"},
		"another host":        {"https://evil.example/?x=secret", tarsy.CodeForbidden, "names the host evil.example, which is not allowed"},
		"without a scheme":    {"//evil.example/b", tarsy.CodeForbidden, "names the host evil.example, which is not allowed"},
		"a user":              {"https://me:secret@docs.example.org/b", tarsy.CodeForbidden, "contains a user name"},
		"a port":              {"https://docs.example.org:22/b", tarsy.CodeForbidden, "names a port"},
		"loopback":            {"https://127.0.0.1/b", tarsy.CodeForbidden, "not allowed"},
		"a private address":   {"https://raw.example.org/b", tarsy.CodeForbidden, "from raw.example.org: it is not on the public internet"},
		"metadata of a cloud": {"http://169.254.169.254/latest", tarsy.CodeForbidden, "redirects from https to http"},
		"no address":          {"https://docs.example.org:secret/b", tarsy.CodeUnavailable, "redirects to an invalid address"},
		"too long":            {"/" + strings.Repeat("a", 2048), tarsy.CodeForbidden, "is longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			n.handle("docs.example.org", redirect(c.to))
			f := n.fetcher(t, func(cfg *runbook.Config) {
				cfg.Resolve = byHost(map[string]string{"raw.example.org": "10.0.0.1", "docs.example.org": publicIP.String()})
			})

			_, err := f.Fetch(t.Context(), "https://docs.example.org/a")

			requireFailure(t, err, c.code, c.says)
			require.NotContains(t, err.Error(), "secret")
			require.Len(t, n.seen(), 1)
			require.Len(t, n.dialled, 1)
		})
	}
}

func TestAllowedRedirectsAreFollowed(t *testing.T) {
	t.Parallel()

	for status := range map[int]bool{301: true, 302: true, 303: true, 307: true, 308: true} {
		for from, to := range map[string]string{
			"http://docs.example.org/a":  "https://docs.example.org/b",
			"https://docs.example.org/a": "/b",
			"http://docs.example.org/":   "b?c=d",
		} {
			t.Run(strconv.Itoa(status)+" "+to, func(t *testing.T) {
				t.Parallel()
				n := newInternet(t)
				n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path != "/b" {
						w.Header().Set("Location", to)
						w.WriteHeader(status)

						return
					}
					answer("text/plain", "found")(w, r)
				})

				text, err := n.fetcher(t, nil).Fetch(t.Context(), from)

				require.NoError(t, err)
				require.Equal(t, "found", text)
			})
		}
	}
}

func TestFiveRedirectsAreFollowedButNotSix(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	n.handle("docs.example.org", func(w http.ResponseWriter, r *http.Request) {
		left, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || left == 0 {
			answer("text/plain", "found")(w, r)

			return
		}
		redirect(fmt.Sprintf("/%d", left-1))(w, r)
	})
	f := n.fetcher(t, nil)

	text, err := f.Fetch(t.Context(), "https://docs.example.org/5")
	require.NoError(t, err)
	require.Equal(t, "found", text)
	require.Len(t, n.seen(), 6)

	_, err = f.Fetch(t.Context(), "https://docs.example.org/6")
	requireFailure(t, err, tarsy.CodeUnavailable, "more than 5 redirects")
	require.Len(t, n.seen(), 12)
}

func TestOtherStatusIsNamed(t *testing.T) {
	t.Parallel()

	for status, says := range map[int]string{
		http.StatusNoContent:           "it answered 204 No Content",
		http.StatusPartialContent:      "it answered 206 Partial Content",
		http.StatusMultipleChoices:     "it answered 300 Multiple Choices",
		http.StatusFound:               "it answered 302 Found",
		http.StatusNotModified:         "it answered 304 Not Modified",
		http.StatusUnauthorized:        "it answered 401 Unauthorized",
		http.StatusNotFound:            "it answered 404 Not Found",
		http.StatusInternalServerError: "it answered 500 Internal Server Error",
		799:                            "it answered 799",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)
			n.handle("docs.example.org", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })

			_, err := n.fetcher(t, nil).Fetch(t.Context(), page)

			requireFailure(t, err, tarsy.CodeUnavailable, "could not fetch the runbook from docs.example.org: "+says)
		})
	}
}

func TestUntrustedCertificateIsRefused(t *testing.T) {
	t.Parallel()
	n, other := newInternet(t), newInternet(t)
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.RootCAs = other.roots })

	_, err := f.Fetch(t.Context(), "https://docs.example.org/a")

	requireFailure(t, err, tarsy.CodeUnavailable, "its certificate is not valid")
	require.Empty(t, n.seen())
}

func TestCertificateOfAnotherHostIsRefused(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.AllowedDomains = []string{"other.example.org"} })

	_, err := f.Fetch(t.Context(), "https://other.example.org/a")

	requireFailure(t, err, tarsy.CodeUnavailable, "its certificate is not valid")
	require.Empty(t, n.seen())
}
