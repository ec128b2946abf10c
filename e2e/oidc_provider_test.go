package e2e

import (
	"bufio"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/tarsytest"
)

// startProvider runs oidc-provider as published on npm, and returns its address.
func startProvider(t *testing.T, modules, claimsIn string) string {
	t.Helper()

	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "sdk"))))
	require.NoError(t, os.Symlink(modules, filepath.Join(dir, "node_modules")))

	command := exec.CommandContext(t.Context(), "node", "issuer.mjs")
	command.Dir = dir
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "CLIENT_SECRET=" + oidcSecret, "GROUP=responders", "CLAIMS_IN=" + claimsIn}

	input, err := command.StdinPipe()
	require.NoError(t, err)

	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = input.Close()
		_ = command.Wait()
	})

	lines := bufio.NewScanner(output)
	require.True(t, lines.Scan(), "it ended without an address")

	return lines.Text()
}

// This issuer is third-party and certified: it has its own ideas of redirects, cookies, claims and keys.
func TestLoginWorksWithThirdPartyIssuer(t *testing.T) {
	t.Parallel()

	modules := sdkModules(t)

	for _, claimsIn := range []string{"id_token", "userinfo"} {
		t.Run(claimsIn, func(t *testing.T) {
			t.Parallel()

			address := startProvider(t, modules, claimsIn)
			app := tarsytest.New(t, tarsytest.Options{
				RequireKey: true, Config: oidcSystem(address, "") + oneAgent, Env: map[string]string{"OIDC_SECRET": oidcSecret},
			})
			b := newBrowser(t, app)

			page := b.navigate(t, http.MethodGet, app.URL+oidcLogin+"?return_to="+url.QueryEscape("/sessions?team=x"), nil)
			require.Equal(t, http.StatusOK, page.status, page.body)
			require.True(t, strings.HasPrefix(page.url.String(), address+"/interaction/"), "%s", page.url)

			page = b.navigate(t, http.MethodPost, page.url.String(), url.Values{"prompt": {"login"}, "login": {"ada"}, "password": {"any"}})
			require.True(t, strings.HasPrefix(page.url.String(), address+"/interaction/"), "%s", page.url)

			page = b.navigate(t, http.MethodPost, page.url.String(), url.Values{"prompt": {"consent"}})
			requireLogin(t, page, "/sessions?team=x")

			me := b.me(t)
			require.Equal(t, "ada@example.com", me["name"])
			require.Equal(t, "responder", me["role"])
		})
	}
}

func TestClaimsThatIDTokenLacksComeFromUserInfo(t *testing.T) {
	t.Parallel()

	s := newSSO(t, issuer.Person{
		Subject: "uma", Claims: map[string]any{"teams": []string{"storage"}},
		UserInfo: map[string]any{"groups": []string{"responders"}, "email": "uma@example.com", "email_verified": true, "teams": []string{"payments"}, "iss": "x"},
	})

	for fault, code := range map[issuer.Fault]tarsy.Code{issuer.OtherUser: tarsy.CodeLoginFailed, issuer.UserInfoDown: tarsy.CodeOIDCUnavailable} {
		s.issuer.Misbehave(fault)

		b := newBrowser(t, s.app)
		s.requireRefusal(t, b, b.sso(t, "uma", "/"), string(code))
	}

	s.issuer.Misbehave(issuer.None)

	b := newBrowser(t, s.app)
	requireLogin(t, b.sso(t, "uma", "/alerts"), "/alerts")
	require.Equal(t, "responder", b.me(t)["role"])
	require.Equal(t, "uma@example.com", b.me(t)["name"])

	rows := tarsytest.Rows[struct{ Teams []string }](s.app, `SELECT user_teams AS teams FROM browser_sessions`)
	require.Equal(t, []string{"storage"}, rows[0].Teams, "the ID token wins")
}
