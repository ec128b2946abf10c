package tarsy_test

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

func TestSessionURLKeepsPathOfDashboard(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]string{
		"https://tarsy.example":        "https://tarsy.example/sessions/id",
		"https://tarsy.example/":       "https://tarsy.example/sessions/id",
		"http://[::1]:8080/ops/tarsy/": "http://[::1]:8080/ops/tarsy/sessions/id",
	} {
		dashboard, err := url.Parse(address)
		require.NoError(t, err)
		require.Equal(t, want, tarsy.SessionURL(dashboard, "id"))
	}

	require.Empty(t, tarsy.SessionURL(nil, "id"))
}
