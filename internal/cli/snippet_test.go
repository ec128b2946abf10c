package cli_test

import (
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

func TestAlertmanagerSnippetIsTheConfigurationOfAWebhook(t *testing.T) {
	t.Parallel()

	var read map[string]any

	require.NoError(t, yaml.Unmarshal([]byte(cli.AlertmanagerSnippet("http://tarsy:8080/api/v1/webhooks/alertmanager/main", `<a "token">`)), &read))
	require.Equal(t, map[string]any{
		"route": map[string]any{"receiver": "tarsy"},
		"receivers": []any{map[string]any{"name": "tarsy", "webhook_configs": []any{map[string]any{
			"url": "http://tarsy:8080/api/v1/webhooks/alertmanager/main", "send_resolved": true,
			"http_config": map[string]any{"authorization": map[string]any{"type": "Bearer", "credentials": `<a "token">`}},
		}}}},
	}, read)
}

func TestGuideShowsTheSnippetThatIsPrinted(t *testing.T) {
	t.Parallel()

	require.Contains(t, readFile(t, "..", "..", "docs", "getting-started.md"),
		"```yaml\n"+cli.AlertmanagerSnippet("http://tarsy.example:8080/api/v1/webhooks/alertmanager/main", "<TARSY_ALERTMANAGER_TOKEN>")+"```\n")
}
