package alert

import "tarsy.dev/tarsy/internal/config"

// readGrafana reads the body of a webhook contact point of Grafana's unified alerting. The test button of a contact point sends
// an alert as well, with the name TestAlert; it is read as one, because people may give it other labels.
func readGrafana(r config.Receiver, body []byte) ([]report, error) {
	b, err := readGroup(body)
	if err != nil {
		return nil, err
	}

	return b.reports(r), nil
}
