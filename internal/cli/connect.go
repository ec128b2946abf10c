package cli

import (
	"cmp"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

// The ways in which a sender proves who it is, as the API names them, and none.
const (
	authKey       = "api_key"
	authToken     = "token"
	authSignature = "signature"
	authNone      = "none"
)

// snippet is the configuration of a sender, to be pasted, with comments about what to put into it.
func snippet(r client.Webhook) string {
	switch tarsy.AlertSource(r.Source) {
	case tarsy.SourceAlertmanager:
		return alertmanagerSteps(r)
	case tarsy.SourceGrafana:
		return grafanaSnippet(r)
	case tarsy.SourcePagerDuty:
		return pagerDutySnippet(r)
	case tarsy.SourceGeneric, tarsy.SourceAPI, tarsy.SourceDiscord, tarsy.SourceSlack:
	}

	return genericSnippet(r)
}

// bearer describes the token that a sender puts into the header Authorization: the receiver's own, or an API key. It is empty if
// the receiver wants only a signature.
func bearer(r client.Webhook) string {
	switch {
	case r.TokenEnv != "":
		return "the value of " + r.TokenEnv + " on the server"
	case r.SecretEnv != "":
		return ""
	default:
		return newKey(r.Source)
	}
}

func newKey(source string) string {
	return "an API key: tarsy keys create " + source + " --scope write"
}

func alertmanagerSteps(r client.Webhook) string {
	note := ""
	if r.SecretEnv != "" {
		note = "# Alertmanager does not sign what it sends: use token_env instead of secret_env, or a proxy that adds X-Signature-256.\n"
	}

	const file = "/etc/alertmanager/tarsy-token"

	return note + "# alertmanager.yml; " + file + " contains " + cmp.Or(bearer(r), newKey(r.Source)) + "\n" +
		alertmanagerSnippet(r.URL, file)
}

// grafanaSnippet is a file for Grafana's provisioning. Grafana replaces $NAME by its own environment variables.
func grafanaSnippet(r client.Webhook) string {
	var comments, settings strings.Builder

	if token := bearer(r); token != "" {
		fmt.Fprintf(&comments, "# TARSY_TOKEN, a variable of Grafana, is %s\n", token)
		settings.WriteString("          authorization_scheme: Bearer\n          authorization_credentials: $TARSY_TOKEN\n")
	}

	if r.SecretEnv != "" {
		fmt.Fprintf(&comments, "# TARSY_SECRET, a variable of Grafana (11.6 or newer), is the value of %s on the server\n", r.SecretEnv)
		settings.WriteString("          hmacConfig:\n            secret: $TARSY_SECRET\n")
	}

	return fmt.Sprintf(`# provisioning/alerting/tarsy.yaml: a contact point for your notification policies
%sapiVersion: 1
contactPoints:
  - orgId: 1
    name: tarsy
    receivers:
      - uid: tarsy
        type: webhook
        disableResolveMessage: false
        settings:
          url: %q
          httpMethod: POST
%s`, comments.String(), r.URL, settings.String())
}

// pagerDutySnippet creates a webhook subscription with PagerDuty's API.
func pagerDutySnippet(r client.Webhook) string {
	delivery := map[string]any{"type": "http_delivery_method", "url": r.URL}
	comments := `# PAGERDUTY_API_KEY is a key of PagerDuty's REST API, and SERVICE the ID of the service whose incidents are sent.
`

	if token := bearer(r); token != "" {
		delivery["custom_headers"] = []map[string]string{{"name": "Authorization", "value": "Bearer TARSY_TOKEN"}}
		comments += "# Replace TARSY_TOKEN by " + token + ".\n"
	}

	if r.SecretEnv != "" {
		comments += "# The response has delivery_method.secret, once: set " + r.SecretEnv + " on the server to it, and restart the server.\n"
	}

	body, err := encodeJSON(map[string]any{"webhook_subscription": map[string]any{
		"type":            "webhook_subscription",
		"description":     "TARSy",
		"delivery_method": delivery,
		"events":          []string{"incident.triggered", "incident.reopened", "incident.resolved"},
		"filter":          map[string]string{"type": "service_reference", "id": "SERVICE"},
	}}, "  ")
	if err != nil {
		return "" // not reached: these are texts
	}

	return fmt.Sprintf(`%s# In the web app: Integrations > Generic Webhooks (v3) > New Webhook, with the same URL and events.
curl -X POST https://api.pagerduty.com/webhook_subscriptions \
  -H "Authorization: Token token=$PAGERDUTY_API_KEY" \
  -H "Content-Type: application/json" \
  --data-binary '%s'
`, comments, strings.ReplaceAll(string(body), "'", `'\''`))
}

// genericSnippet sends the alert in alert.json.
func genericSnippet(r client.Webhook) string {
	var comments, headers strings.Builder

	if token := bearer(r); token != "" {
		fmt.Fprintf(&comments, "# TARSY_TOKEN is %s\n", token)
		headers.WriteString("  -H \"Authorization: Bearer $TARSY_TOKEN\" \\\n")
	}

	if r.SecretEnv != "" {
		fmt.Fprintf(&comments, "# TARSY_SECRET is the value of %s on the server\n", r.SecretEnv)
		headers.WriteString(`  -H "X-Signature-256: sha256=$(openssl dgst -sha256 -hmac "$TARSY_SECRET" -r alert.json | cut -d ' ' -f 1)" \` + "\n")
	}

	return fmt.Sprintf("%scurl -X POST '%s' \\\n%s  -H \"Content-Type: application/json\" --data-binary @alert.json\n", comments.String(), r.URL, headers.String())
}
