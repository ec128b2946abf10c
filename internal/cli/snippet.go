package cli

import (
	"fmt"
	"strings"
)

// alertmanagerSnippet is what to paste into alertmanager.yml so that Alertmanager sends alerts to a receiver of ours. Credentials
// are the token, what stands for it where the token is not known, or the path of a file with it.
func alertmanagerSnippet(url, credentials string) string {
	key := "credentials"
	if strings.HasPrefix(credentials, "/") {
		key = "credentials_file"
	}

	return fmt.Sprintf(`receivers:
  - name: tarsy
    webhook_configs:
      - url: %q
        send_resolved: true
        http_config:
          authorization:
            type: Bearer
            %s: %q
route:
  receiver: tarsy  # or paste the webhook_configs into the receivers that you have
`, url, key, credentials)
}
