package e2e

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/tarsytest"
)

const (
	oidcLogin    = "/api/v1/login/oidc"
	oidcCallback = oidcLogin + "/callback"
	oidcSecret   = "the-secret-of-the-client"
)

// sso is a server whose users log in at an issuer of the test.
type sso struct {
	app    *tarsytest.App
	issuer *issuer.Server
	url    string
	config string
	clock  *clockwork.FakeClock
}

// newSSO boots both. people are those who can log in; by default ada of the admins, rob of the responders, vera of the viewers, and eve.
func newSSO(t *testing.T, people ...issuer.Person) *sso {
	t.Helper()

	clock := clockwork.NewFakeClockAt(beginning())
	s := &sso{clock: clock, issuer: issuer.New(issuer.Config{ClientID: "tarsy", ClientSecret: oidcSecret, People: people, Clock: clock})}

	// The issuer's connections must not outlive the test.
	server := httptest.NewServer(s.issuer)
	t.Cleanup(server.Close)

	s.url = server.URL
	s.config = oidcSystem(s.url, "") + oneAgent
	s.app = s.server(t, s.config, "")

	return s
}

// oidcSystem returns the section system of a server with an issuer.
func oidcSystem(issuerURL, more string) string {
	return "system: {auth: {oidc: {issuer: '" + issuerURL + "', client_id: tarsy, client_secret_env: OIDC_SECRET, teams_claim: teams, " +
		"label: Log in with Example" + more + "}, roles: {admin: [admins], responder: [responders], viewer: [viewers]}}}\n"
}

// server boots a server on this database, or on a new one if it is empty.
func (s *sso) server(t *testing.T, config, database string) *tarsytest.App {
	t.Helper()

	return tarsytest.New(t, tarsytest.Options{
		RequireKey: true, Clock: s.clock, Config: config, Database: database, Env: map[string]string{"OIDC_SECRET": oidcSecret},
	})
}

// shownPage is the page that a browser shows in the end.
type shownPage struct {
	status int
	url    *url.URL
	body   string
}

// navigate opens an address as a person would, and follows redirects.
func (b *browser) navigate(t *testing.T, method, address string, form url.Values) shownPage {
	t.Helper()

	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	require.NoError(t, err)

	request.Header.Set("Accept", "text/html")

	if form != nil {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}

	response, err := b.client.Do(request)
	require.NoError(t, err)

	defer func() { require.NoError(t, response.Body.Close()) }()

	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)

	return shownPage{response.StatusCode, response.Request.URL, string(text)}
}

// beginSSO opens the issuer's page and returns the address and the fields of its form.
func (b *browser) beginSSO(t *testing.T, returnTo string) (string, url.Values) {
	t.Helper()

	page := b.navigate(t, http.MethodGet, b.app.URL+oidcLogin+"?return_to="+url.QueryEscape(returnTo), nil)
	require.Equal(t, http.StatusOK, page.status, page.body)
	require.Equal(t, "/authorize", page.url.Path, "%s %s", page.url, page.body)

	address := *page.url
	address.RawQuery = ""

	return address.String(), page.url.Query()
}

// sso logs a person in at the issuer and returns the page that is shown afterwards.
func (b *browser) sso(t *testing.T, subject, returnTo string) shownPage {
	t.Helper()

	address, form := b.beginSSO(t, returnTo)
	form.Set("subject", subject)

	return b.navigate(t, http.MethodPost, address, form)
}

// requireLogin checks that a login has succeeded.
func requireLogin(t *testing.T, page shownPage, at string) {
	t.Helper()
	require.Equal(t, http.StatusOK, page.status, page.body)
	require.Equal(t, at, page.url.RequestURI())
}

// requireRefusal checks that a login was refused with a code, and that nobody was logged in.
func (s *sso) requireRefusal(t *testing.T, b *browser, page shownPage, code string) {
	t.Helper()
	require.Equal(t, http.StatusOK, page.status, page.body)
	require.Equal(t, "/login", page.url.Path, "%s", page.url)
	require.Equal(t, code, page.url.Query().Get("error"), "%s", page.url)
	require.Equal(t, false, b.me(t)["authenticated"])
	require.Empty(t, b.header(t).Get("Cookie"), "no session, and no attempt that could be repeated")
	require.Empty(t, tarsytest.Rows[struct{ Hash []byte }](s.app, `SELECT hash FROM browser_sessions`))
}
