package alert

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

//go:embed sample/grafana.json
var grafanaSample string

func grafana() Source {
	return Source{
		Name: tarsy.SourceGrafana, Sample: grafanaSample, Connect: connectGrafana,
		read: readGrafana, recognizes: isGrafana,
		signing: signing{headers: []string{"X-Grafana-Alerting-Signature"}, prefix: "sha256=", bare: true, also: grafanaTimes},
	}
}

// readGrafana reads the body of a webhook contact point of Grafana's unified alerting. The test button of a contact point sends
// an alert named TestAlert; it is read like any other, because users can give it different labels.
func readGrafana(r config.Receiver, body []byte) (reading, error) {
	b, err := readGroup(body)
	if err != nil {
		return reading{}, err
	}

	return reading{reports: b.reports(r)}, nil
}

func isGrafana(object map[string]json.RawMessage) bool {
	alerts, ok := groupOf(object)

	return ok && (hasAny(object, "orgId", "state") || len(alerts) > 0 && hasAny(alerts[0], "silenceURL", "dashboardURL", "panelURL", "valueString"))
}

// grafanaTimes returns the timestamps that Grafana can be configured to send and to sign together with the body. The header
// name is user-defined; these are the ones in its documentation.
func grafanaTimes(header http.Header) []string {
	var before []string

	for _, name := range []string{"X-Grafana-Alerting-Signature-Timestamp", "X-Grafana-Alerting-Timestamp"} {
		if at := header.Get(name); at != "" {
			before = append(before, at+":")
		}
	}

	return before
}

// connectGrafana returns a Grafana provisioning file. Grafana expands $NAME from its own environment variables.
func connectGrafana(r Endpoint) string {
	var comments, settings strings.Builder

	if token := r.bearer(); token != "" {
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
