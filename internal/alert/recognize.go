package alert

import (
	"bytes"
	"encoding/json"

	"tarsy.dev/tarsy"
)

// Recognize reports whether a body that was sent as one alert is in fact a delivery of Alertmanager or Grafana, so that it can be
// read with a receiver of that source.
func Recognize(body []byte) (tarsy.AlertSource, bool) {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' || depth(body) > maxDepth {
		return "", false
	}

	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return "", false
	}

	var alerts []map[string]json.RawMessage
	if object["alerts"] == nil || json.Unmarshal(object["alerts"], &alerts) != nil || alerts == nil {
		return "", false
	}

	if !hasAny(object, "groupKey", "groupLabels", "commonLabels") {
		return "", false
	}

	if hasAny(object, "orgId", "state") || len(alerts) > 0 && hasAny(alerts[0], "silenceURL", "dashboardURL", "panelURL", "valueString") {
		return tarsy.SourceGrafana, true
	}

	return tarsy.SourceAlertmanager, true
}

func hasAny(object map[string]json.RawMessage, names ...string) bool {
	for _, name := range names {
		if _, ok := object[name]; ok {
			return true
		}
	}

	return false
}
