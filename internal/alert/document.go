package alert

import (
	"encoding/json"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
)

// document is what a sender writes about an alert, by location. Facts are looked up in it.
type document struct {
	labels, annotations map[string]string
	// Fields other than labels and annotations.
	fields map[string]string
	links  []tarsy.AlertLink
}

// label returns the value of the first name that is present, preferring labels.
func (d *document) label(names []string) string {
	return lookup(names, d.labels, d.annotations, d.fields)
}

// annotation returns the value of the first name that is present, preferring annotations.
func (d *document) annotation(names []string) string {
	return lookup(names, d.annotations, d.fields, d.labels)
}

func lookup(names []string, from ...map[string]string) string {
	for _, name := range names {
		for _, values := range from {
			if value := strings.TrimSpace(values[name]); value != "" {
				return value
			}
		}
	}

	return ""
}

// textLimit is the largest text that is searched for facts. Larger JSON is data, not a description.
const textLimit = 256 << 10

// readDocument extracts labels, annotations and fields from the text of an alert. Text that is not JSON has none.
func readDocument(text string) document {
	var d document

	body := []byte(strings.TrimSpace(text))
	if len(body) == 0 || len(body) > textLimit || body[0] != '{' && body[0] != '[' || depth(body) > maxDepth {
		return d
	}

	if body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return d
		}

		body = list[0]
	}

	const levels = 3 // the object, a wrapper, and one nested in that, such as data.essentials of Azure Monitor

	d.add(body, levels)

	return d
}

// wrappers are the objects in which senders nest an alert or its subject. The first one that has a field wins.
var wrappers = []string{
	"alert", "incident", "problem", "issue", "alert_group", "event", "data", "payload", "essentials", "detail", "monitor", "check",
}

// add adds the contents of an object. Existing values win: they are nearer to the top.
func (d *document) add(body []byte, levels int) {
	var object map[string]json.RawMessage
	if levels == 0 || len(body) == 0 || body[0] != '{' || json.Unmarshal(body, &object) != nil {
		return
	}

	for _, name := range []string{"labels", "commonLabels"} {
		d.labels = merge(d.labels, object[name])
	}

	for _, name := range []string{"annotations", "commonAnnotations"} {
		d.annotations = merge(d.annotations, object[name])
	}

	d.fields = merge(d.fields, scalars(object))

	links := merge(nil, object["links"])
	for _, known := range linkNames {
		d.links = append(d.links, tarsy.AlertLink{Kind: known.kind, URL: links[string(known.kind)]})
	}

	var alerts []json.RawMessage
	if json.Unmarshal(object["alerts"], &alerts) == nil && len(alerts) > 0 {
		d.add(alerts[0], levels-1)
	}

	for _, name := range wrappers {
		d.add(object[name], levels-1)
	}
}

// scalars returns an object without its nested objects and lists.
func scalars(object map[string]json.RawMessage) json.RawMessage {
	kept := map[string]json.RawMessage{}

	for name, raw := range object {
		if len(raw) > 0 && raw[0] != '{' && raw[0] != '[' {
			kept[name] = raw
		}
	}

	raw, _ := json.Marshal(kept) //nolint:errchkjson // it was JSON before

	return raw
}

func merge(into map[string]string, raw json.RawMessage) map[string]string {
	var more words
	if len(raw) == 0 || json.Unmarshal(raw, &more) != nil {
		return into
	}

	if into == nil {
		return more
	}

	for name, value := range more {
		if into[name] == "" {
			into[name] = value
		}
	}

	return into
}

// summary lists a few fields, for an alert without a better title.
func (d *document) summary() string {
	const most = 3

	names := make([]string, 0, len(d.fields))
	for name := range d.fields {
		names = append(names, name)
	}

	slices.Sort(names)

	var parts []string
	for _, name := range names[:min(most, len(names))] {
		parts = append(parts, name+": "+oneLine(d.fields[name], tarsy.MaxTitle))
	}

	return strings.Join(parts, ", ")
}
