package origin_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/origin"
)

func TestPatternMatchesHostsOrWholeOrigins(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		pattern, scheme, host string
		matches               bool
	}{
		{"Dash.example.com", "https", "dash.EXAMPLE.com", true},
		{"dash.example.com", "https", "dash.example.com:8443", false},
		{"*.example.com:8443", "http", "a.example.com:8443", true},
		{"https://dash.example.com", "https", "dash.example.com", true},
		{"https://dash.example.com/", "https", "dash.example.com", true},
		{"https://dash.example.com", "http", "dash.example.com", false},
		{"*", "https", "anything.example", true},
	} {
		pattern, err := origin.Parse(test.pattern)
		require.NoError(t, err, test.pattern)
		require.Equal(t, test.matches, pattern.Match(test.scheme, test.host), "%+v", test)
	}
}

func TestPatternThatCannotMatchIsRefused(t *testing.T) {
	t.Parallel()

	for _, text := range []string{"", " ", "[bad", "a[", "https://example.com/dashboard", "example.com/x", `x\`} {
		_, err := origin.Parse(text)
		require.Error(t, err, text)
	}
}

func TestPolicyAllowsOwnPagesAndThoseThatMatch(t *testing.T) {
	t.Parallel()

	pattern, err := origin.Parse("https://*.example.com")
	require.NoError(t, err)

	policy := origin.Policy{Own: "https://tarsy.example", Allowed: []origin.Pattern{pattern}}

	for _, c := range []struct {
		host, header     string
		allowed, foreign bool
	}{
		{"internal:8080", "", true, false},
		{"internal:8080", "http://internal:8080", true, false},
		{"internal:8080", "http://INTERNAL:8080", true, false},
		{"internal:8080", "https://tarsy.example", true, false},
		{"internal:8080", "https://a.example.com", true, true},
		{"internal:8080", "http://a.example.com", false, true},
		{"internal:8080", "http://internal", false, true},
		{"internal:8080", "https://tarsy.example.evil", false, true},
		{"internal:8080", "null", false, true}, // a page without an origin, such as one in a sandbox
		{"", "null", false, true},              // from a client that sends no host
		{"internal:8080", "http://%", false, true},
	} {
		request := &http.Request{Host: c.host, Header: http.Header{}}
		if c.header != "" {
			request.Header.Set("Origin", c.header)
		}

		allowed, foreign := policy.Allow(request)
		require.Equal(t, []bool{c.allowed, c.foreign}, []bool{allowed, foreign}, "%+v", c)
	}
}
