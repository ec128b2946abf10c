package origin_test

import (
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
