package cli

import "fmt"

// alertmanagerSnippet is what to paste into alertmanager.yml so that Alertmanager sends alerts to a receiver of ours. Credentials
// are the token, or what stands for it where the token is not known.
func alertmanagerSnippet(url, credentials string) string {
	return fmt.Sprintf(`receivers:
  - name: tarsy
    webhook_configs:
      - url: %q
        send_resolved: true
        http_config:
          authorization:
            type: Bearer
            credentials: %q
route:
  receiver: tarsy  # or paste the webhook_configs into the receivers that you have
`, url, credentials)
}
