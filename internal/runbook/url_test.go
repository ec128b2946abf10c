package runbook_test

import (
	"bytes"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/runbook"
)

func TestDisallowedAddressIsRefusedAtIntake(t *testing.T) {
	t.Parallel()
	f := runbook.New(runbook.Config{AllowedDomains: []string{"docs.example.org", "*.wiki.example.org", "10.0.0.1"}})
	t.Cleanup(f.Close)

	for name, c := range map[string]struct{ url, says string }{
		"nothing":                 {"", "does not start with http:// or https://"},
		"no scheme":               {"docs.example.org/a.md", "does not start with"},
		"scheme only":             {"https:docs.example.org", "names no valid host"},
		"file":                    {"file:///etc/passwd", "does not start with"},
		"gopher":                  {"gopher://docs.example.org/", "does not start with"},
		"other host":              {"https://evil.example/a.md", "names the host evil.example, which is not allowed"},
		"suffix without a dot":    {"https://evildocs.example.org/a.md", "not allowed"},
		"prefix of another":       {"https://docs.example.org.evil.example/a.md", "not allowed"},
		"subdomain of an exact":   {"https://a.docs.example.org/a.md", "not allowed"},
		"the wildcard's parent":   {"https://wiki.example.org/a.md", "not allowed"},
		"wildcard without a dot":  {"https://evilwiki.example.org/a.md", "not allowed"},
		"empty label of wildcard": {"https://.wiki.example.org/a.md", "names no valid host"},
		"user":                    {"https://docs.example.org@evil.example/", "contains a user name"},
		"user on allowed host":    {"https://me:secret@docs.example.org/", "contains a user name"},
		"no host":                 {"https:///a.md", "names no valid host"},
		"other alphabet":          {"https://dоcs.example.org/", "names no valid host"},
		"wide dot":                {"https://docs。example.org/", "names no valid host"},
		"backslash":               {`https://docs.example.org\@evil.example/`, "is not a valid address"},
		"control character":       {"https://docs.example.org/a\nb", "is not a valid address"},
		"NUL":                     {"https://docs.example.org/\x00", "is not a valid address"},
		"leading blank":           {" https://docs.example.org/", "is not a valid address"},
		"decimal address":         {"http://2130706433/", "not allowed"},
		"hexadecimal address":     {"http://0x7f.1/", "not allowed"},
		"loopback":                {"http://127.0.0.1/", "not allowed"},
		"loopback IPv6":           {"http://[::1]/", "not allowed"},
		"address with a zone":     {"http://[fe80::1%25lo]/", "names no valid host"},
		"port 0":                  {"https://docs.example.org:0/", "names a port other than"},
		"port of mail":            {"https://docs.example.org:25/", "names a port other than"},
		"port too high":           {"https://docs.example.org:65536/", "names a port other than"},
		"port of many digits":     {"https://docs.example.org:" + strings.Repeat("9", 99) + "/", "names a port other than"},
		"port that is a word":     {"https://docs.example.org:http/", "is not a valid address"},
		"too long":                {"https://docs.example.org/" + strings.Repeat("a", 2048), "is longer than 2048 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := f.Check(c.url)

			requireFailure(t, err, tarsy.CodeInvalidField, c.says)
			var refused *tarsy.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, "runbook_url", refused.Field)
			require.Contains(t, refused.Message, "allowed are http:// and https:// addresses on docs.example.org, *.wiki.example.org, 10.0.0.1")
			require.NotContains(t, refused.Message, "secret")

			_, fetchErr := f.Fetch(t.Context(), c.url)
			require.Equal(t, err, fetchErr, "a fetch says the same")
		})
	}
}

func TestAllowedAddressesPass(t *testing.T) {
	t.Parallel()
	f := runbook.New(runbook.Config{AllowedDomains: []string{" Docs.Example.org. ", "*.wiki.example.org", "xn--bcher-kva.example"}})
	t.Cleanup(f.Close)

	for _, allowed := range []string{
		"https://docs.example.org", "HTTPS://DOCS.example.org./a%20b.md?token=1#part", "http://docs.example.org:8080/",
		"http://docs.example.org:80/", "http://docs.example.org:443/", "https://docs.example.org:65535/",
		"https://a.wiki.example.org/", "https://a.b.wiki.example.org/", "https://xn--bcher-kva.example/",
	} {
		require.NoError(t, f.Check(allowed), allowed)
	}
}

func TestGitHubIsAllowedByDefault(t *testing.T) {
	t.Parallel()
	f := runbook.New(runbook.Config{})
	t.Cleanup(f.Close)

	require.NoError(t, f.Check("https://github.com/o/r/blob/main/a.md"))
	require.NoError(t, f.Check("https://raw.githubusercontent.com/o/r/main/a.md"))
	requireFailure(t, f.Check("https://api.github.com/"), tarsy.CodeInvalidField, "on github.com, raw.githubusercontent.com")
}

func TestInvalidDomainAllowsNothing(t *testing.T) {
	t.Parallel()

	for _, domain := range []string{"*", "*.", "", "https://docs.example.org", "docs.example.org:443", "docs.*.org", "*.*.org", "döcs.org"} {
		var logs bytes.Buffer
		f := runbook.New(runbook.Config{AllowedDomains: []string{domain}, Logger: slog.New(slog.NewTextHandler(&logs, nil))})
		t.Cleanup(f.Close)

		requireFailure(t, f.Check("https://github.com/"), tarsy.CodeInvalidField, "addresses on no host")
		require.Error(t, f.Check("https://docs.example.org/"), domain)
		require.Contains(t, logs.String(), "ignoring an allowed runbook domain")
	}
}

func TestLongDomainListIsTruncatedInMessages(t *testing.T) {
	t.Parallel()
	f := runbook.New(runbook.Config{AllowedDomains: strings.Fields(strings.Repeat("a.example ", 12))})
	t.Cleanup(f.Close)

	requireFailure(t, f.Check("https://b.example/"), tarsy.CodeInvalidField, "a.example and 2 more")
}

func TestGitHubFilePageBecomesRawFile(t *testing.T) {
	t.Parallel()

	for given, requested := range map[string]string{
		"https://github.com/o/r/blob/main/a.md":                 "raw.githubusercontent.com /o/r/main/a.md",
		"http://github.com/o/r/blob/main/a.md":                  "raw.githubusercontent.com /o/r/main/a.md",
		"https://GitHub.com:443/o/r/blob/main/a.md?plain=1#L3":  "raw.githubusercontent.com /o/r/main/a.md",
		"https://github.com/o/r/blob/main/d/a%20b%2Fc.md":       "raw.githubusercontent.com /o/r/main/d/a%20b%2Fc.md",
		"https://github.com/o/r/raw/refs/heads/main/a.md":       "raw.githubusercontent.com /o/r/refs/heads/main/a.md",
		"https://raw.githubusercontent.com/o/r/blob/main/a.md":  "raw.githubusercontent.com /o/r/blob/main/a.md",
		"https://github.com/o/r/blob/main":                      "github.com /o/r/blob/main",
		"https://github.com/o/r/blob/main/":                     "github.com /o/r/blob/main/",
		"https://github.com/o/r/wiki/blob/main/a.md":            "github.com /o/r/wiki/blob/main/a.md",
		"https://docs.example.org/o/r/blob/main/a.md?version=2": "docs.example.org /o/r/blob/main/a.md?version=2",
	} {
		t.Run(given, func(t *testing.T) {
			t.Parallel()
			n := newInternet(t)

			_, err := n.fetcher(t, nil).Fetch(t.Context(), given)

			require.NoError(t, err)
			require.Equal(t, []string{requested}, n.seen())
		})
	}
}

func TestAllowingGitHubAllowsRawFiles(t *testing.T) {
	t.Parallel()
	n := newInternet(t)
	f := n.fetcher(t, func(cfg *runbook.Config) { cfg.AllowedDomains = []string{"github.com"} })

	text, err := f.Fetch(t.Context(), "https://github.com/o/r/blob/main/a.md")

	require.NoError(t, err)
	require.Equal(t, "# from raw.githubusercontent.com", text)
	require.Error(t, f.Check("https://raw.githubusercontent.com/o/r/main/a.md"))
}

func FuzzCheckAcceptsOnlyAllowedHosts(f *testing.F) {
	fetcher := runbook.New(runbook.Config{AllowedDomains: []string{"docs.example.org", "*.wiki.example.org"}})
	f.Cleanup(fetcher.Close)
	f.Add("https://docs.example.org/a")
	f.Add("https://docs.example.org@evil.example:80/a?b#c")
	f.Add("http://a.wiki.example.org.:8080//\\evil")

	f.Fuzz(func(t *testing.T, raw string) {
		err := fetcher.Check(raw)
		if err != nil {
			requireFailure(t, err, tarsy.CodeInvalidField, "runbook_url")

			return
		}
		parsed, err := url.Parse(raw)
		require.NoError(t, err)
		host := strings.TrimSuffix(strings.ToLower(parsed.Hostname()), ".")
		require.True(t, host == "docs.example.org" || strings.HasSuffix(host, ".wiki.example.org"), raw)
	})
}
