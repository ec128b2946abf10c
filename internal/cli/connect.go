package cli

import (
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/client"
)

// The ways in which a sender proves who it is, as the API names them.
const (
	authToken     = "token"
	authSignature = "signature"
)

// snippet is the configuration of a sender, or the steps to configure it.
func snippet(r client.Webhook) string {
	switch tarsy.AlertSource(r.Source) {
	case tarsy.SourceAlertmanager:
		return "# alertmanager.yml; the file contains " + credential(r) + "\n" + alertmanagerSnippet(r.URL, "/etc/alertmanager/tarsy-token")
	case tarsy.SourceGrafana:
		return grafanaSnippet(r)
	case tarsy.SourcePagerDuty:
		return pagerDutySteps(r)
	case tarsy.SourceGeneric, tarsy.SourceAPI, tarsy.SourceDiscord:
	}

	return genericSteps(r)
}

// credential says where the secret of a sender comes from.
func credential(r client.Webhook) string {
	switch r.Auth {
	case authToken:
		return "the token in the variable that token_env names"
	case authSignature:
		return "the secret in the variable that secret_env names"
	default:
		return fmt.Sprintf("an API key: tarsy keys create %s --scopes write", r.Source)
	}
}

func grafanaSnippet(r client.Webhook) string {
	auth := `          authorization_scheme: Bearer
          authorization_credentials: $TARSY_TOKEN
`
	if r.Auth == authSignature {
		auth = `          hmacConfig:
            secret: $TARSY_TOKEN
`
	}

	return fmt.Sprintf(`# provisioning/alerting/tarsy.yaml. TARSY_TOKEN is %s
apiVersion: 1
contactPoints:
  - orgId: 1
    name: tarsy
    receivers:
      - uid: tarsy
        type: webhook
        disableResolveMessage: false
        settings:
          url: %s
          httpMethod: POST
%s`, credential(r), r.URL, auth)
}

func pagerDutySteps(r client.Webhook) string {
	steps := []string{
		"In PagerDuty, open Integrations > Generic Webhooks (v3) and choose New Webhook.",
		"Webhook URL: " + r.URL,
		"Events: incident.triggered, incident.acknowledged, incident.reopened and incident.resolved; others are ignored.",
	}

	if r.Auth == authSignature {
		steps = append(steps, "Copy the secret that PagerDuty shows once into the variable that secret_env names, and restart TARSy.")
	} else {
		steps = append(steps, "Add the custom header Authorization: Bearer TOKEN, with "+credential(r)+".")
	}

	return numbered(steps)
}

func genericSteps(r client.Webhook) string {
	header := `-H "Authorization: Bearer $TARSY_TOKEN"`
	if r.Auth == authSignature {
		header = `-H "X-Signature-256: sha256=$(openssl dgst -sha256 -hmac "$TARSY_TOKEN" -r alert.json | cut -d ' ' -f 1)"`
	}

	return fmt.Sprintf("# TARSY_TOKEN is %s\ncurl -X POST %s \\\n  %s \\\n  -H \"Content-Type: application/json\" --data-binary @alert.json\n",
		credential(r), r.URL, header)
}

func numbered(steps []string) string {
	var out strings.Builder
	for i, step := range steps {
		fmt.Fprintf(&out, "%d. %s\n", i+1, step)
	}

	return out.String()
}
