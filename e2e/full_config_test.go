package e2e

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/tarsytest"
)

var withoutTLS = regexp.MustCompile(`(?m)^  tls: .*\n`)

// The server must start with everything that config check accepts: here, with the fixtures that set every key.
func TestServerStartsWithEveryKeySet(t *testing.T) {
	t.Parallel()

	for _, fixture := range []string{"full", "more"} {
		t.Run(fixture, func(t *testing.T) {
			t.Parallel()

			files, err := filepath.Glob(filepath.Join("..", "internal", "config", "testdata", fixture, "*.yaml"))
			require.NoError(t, err)
			require.NotEmpty(t, files)

			var text strings.Builder

			for _, file := range files {
				part, err := os.ReadFile(file)
				require.NoError(t, err)

				text.Write(part)
				text.WriteString("\n")
			}

			// The fixture's certificate does not exist, and the test's client does not speak TLS; internal/app tests TLS.
			settings := withoutTLS.ReplaceAllString(text.String(), "")

			app := tarsytest.New(t, tarsytest.Options{
				Config: settings, Providers: true,
				Env: map[string]string{
					"FILES_TOKEN": "files-token-value", "METRICS_HOST": "metrics.internal", "METRICS_TOKEN": "metrics-token-value",
					"GATEWAY_KEY": "gateway-key-value",
				},
			})

			require.Equal(t, http.StatusOK, app.Do(http.MethodGet, "/health", nil).Status)
		})
	}
}
