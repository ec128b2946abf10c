package e2e

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/certtest"
	"tarsy.dev/tarsy/internal/kit/mock/issuer"
	"tarsy.dev/tarsy/internal/kit/mock/smtp"
)

// The virtual servers are also for other people's programs, so each is tested with a client that the product does not use.

func TestOpenIDClientLogsInAtTheVirtualIssuer(t *testing.T) {
	t.Parallel()

	modules := sdkModules(t)
	server := httptest.NewServer(issuer.New(issuer.Config{ClientID: "program", ClientSecret: oidcSecret, People: []issuer.Person{{
		Subject: "ada", Claims: map[string]any{"groups": []string{"responders"}}, UserInfo: map[string]any{"email": "ada@example.com"},
	}}}))
	t.Cleanup(server.Close)

	requireChecks(t, 6, runChecks(t, modules, "openid.mjs", server.URL, "CLIENT_SECRET="+oidcSecret))
}

func TestNodemailerSendsToTheVirtualMailServer(t *testing.T) {
	t.Parallel()

	modules := sdkModules(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)

	pair := certtest.New(t).Issue(t)
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	require.NoError(t, err)

	server := smtp.Serve(listener, smtp.Config{
		TLS: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}, Users: map[string]string{"ana": "good-secret"},
	})
	t.Cleanup(func() { require.NoError(t, server.Close()) })

	requireChecks(t, 4, runChecks(t, modules, "mail.mjs", "smtp://"+server.Addr().String()))

	mails := server.Mails()
	require.Len(t, mails, 5)

	for _, mail := range mails {
		require.Equal(t, "tarsy@example.org", mail.From)
		require.Equal(t, []string{"a@example.org", "b@example.org", "c@example.org"}, mail.To)
		require.Equal(t, "ana", mail.User)
		require.True(t, mail.Encrypted)
		require.Contains(t, mail.Data, "\n.a line that begins with a dot\n")
		require.Greater(t, strings.Count(mail.Data, "\n"), 1000, "the attachment")
	}
}
