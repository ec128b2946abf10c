package alert

import (
	"bytes"
	"encoding/json"

	"tarsy.dev/tarsy"
)

// Recognize reports whether a body submitted as a single alert is actually a delivery of a known sender, so that it can be read
// with a receiver of that source.
func Recognize(body []byte) (tarsy.AlertSource, bool) {
	if body = bytes.TrimSpace(body); len(body) == 0 || body[0] != '{' || depth(body) > maxDepth {
		return "", false
	}

	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return "", false
	}

	for _, s := range sources() {
		if s.recognizes != nil && s.recognizes(object) {
			return s.Name, true
		}
	}

	return "", false
}

// groupOf returns the alerts of a body that looks like Alertmanager's or Grafana's.
func groupOf(object map[string]json.RawMessage) (alerts []map[string]json.RawMessage, ok bool) {
	if object["alerts"] == nil || json.Unmarshal(object["alerts"], &alerts) != nil || alerts == nil {
		return nil, false
	}

	return alerts, hasAny(object, "groupKey", "groupLabels", "commonLabels")
}

func hasAny(object map[string]json.RawMessage, names ...string) bool {
	for _, name := range names {
		if _, ok := object[name]; ok {
			return true
		}
	}

	return false
}
