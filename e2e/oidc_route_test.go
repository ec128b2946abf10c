package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/tarsytest"
)

// oidcSuccesses returns the steps of a login with OpenID Connect, on servers that have an issuer.
func oidcSuccesses() map[string]success {
	// step requests an address and returns the redirect itself.
	step := func(t *testing.T, page *browser, address string) tarsytest.Response {
		t.Helper()

		page.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)

		response, err := page.client.Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())

		return tarsytest.Response{Status: response.StatusCode, Header: response.Header}
	}

	return map[string]success{
		"begin-oidc-login": {http.StatusSeeOther, func(t *testing.T, _ *tarsytest.App, op operation) tarsytest.Response {
			t.Helper()

			s := newSSO(t)
			answer := step(t, newBrowser(t, s.app), s.app.URL+op.path+"?return_to=/board")
			require.True(t, strings.HasPrefix(answer.Header.Get("Location"), s.url+"/authorize?"), answer.Header)
			require.Contains(t, answer.Header.Get("Set-Cookie"), "; Path="+oidcCallback+"; Max-Age=600; HttpOnly; SameSite=Lax")

			return answer
		}},
		"finish-oidc-login": {http.StatusSeeOther, func(t *testing.T, _ *tarsytest.App, _ operation) tarsytest.Response {
			t.Helper()

			page := newBrowser(t, newSSO(t).app)
			answer := step(t, page, page.stopAtCallback(t, "ada"))
			require.Equal(t, "/", answer.Header.Get("Location"))
			require.Len(t, answer.Header.Values("Set-Cookie"), 2)
			require.Contains(t, answer.Header.Get("Set-Cookie"), "; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict")

			return answer
		}},
	}
}
