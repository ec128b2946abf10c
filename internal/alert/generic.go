package alert

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert/field"
	"tarsy.dev/tarsy/internal/config"
)

//go:embed sample/generic.json
var genericSample string

func generic() Source {
	return Source{
		Name: tarsy.SourceGeneric, Sample: genericSample, Connect: connectGeneric,
		read: readGeneric, signing: signedByProxies(),
	}
}

// readGeneric reads a body of any form, also in the envelope of Amazon SNS.
func readGeneric(r config.Receiver, body []byte) (reading, error) {
	var got reading

	if message, ok := readSNS(body); ok {
		if message.Type != snsNotification {
			return reading{other: message.describe()}, nil
		}

		// SNS redelivers a message with the same ID.
		got.id, body = string(message.MessageID), message.alerts()
	}

	var err error

	got.reports, err = readAny(r, body)
	if event := unchangedEvent(r, body); err == nil && len(got.reports) == 0 && event != "" {
		got.other = "The sender reports " + oneLine(event, maxFact) + ", which neither starts nor ends an alert."
	}

	return got, err
}

// readAny reads a body of any form. Facts are taken from where the mapping points, or else from fields with well-known names.
func readAny(r config.Receiver, body []byte) ([]report, error) {
	m, err := compileMapping(r.Mapping)
	if err != nil {
		return nil, fmt.Errorf("mapping of the receiver %s/%s: %w", r.Source, r.Name, err)
	}

	if len(bytes.TrimSpace(body)) == 0 {
		return nil, checkItems(nil)
	}

	var root any
	if err := decodeNumbers(body, &root); err != nil {
		return nil, err
	}

	items, err := m.items(root)
	if err != nil {
		return nil, err
	}

	if err := checkCount(len(items)); err != nil {
		return nil, err
	}

	if len(items) == 0 && m.alerts != "" {
		return nil, nil // the list is where the mapping points, so this is not an error
	}

	if err := checkItems(items); err != nil {
		return nil, err
	}

	reports := make([]report, 0, len(items))

	for _, item := range items {
		if rep := m.report(item, root); rep.phase != unchanged {
			reports = append(reports, rep)
		}
	}

	return reports, nil
}

// unchangedEvent returns the sender's word for the event of its first alert, or "" if the event starts or ends the alert.
func unchangedEvent(r config.Receiver, body []byte) string {
	m, err := compileMapping(r.Mapping)

	var root any
	if err != nil || decodeNumbers(body, &root) != nil {
		return ""
	}

	items, err := m.items(root)
	if err != nil || len(items) == 0 {
		return ""
	}

	rep := m.report(items[0], root)
	if rep.phase != unchanged {
		return ""
	}

	for _, word := range []string{m.status.Text(items[0], root), rep.fields["action"], lookup(statusNames, rep.fields)} {
		if word != "" {
			return word
		}
	}

	return ""
}

// decodeNumbers is decode for values of any type. Numbers keep their digits.
func decodeNumbers(body []byte, into any) error {
	if !json.Valid(body) || depth(body) > maxDepth {
		return decode(body, &json.RawMessage{})
	}

	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()

	if err := decoder.Decode(into); err != nil {
		return &tarsy.Error{Code: tarsy.CodeInvalidJSON, Message: "The body is not valid JSON.", Err: err}
	}

	return nil
}

// items returns the alerts of a body.
func (m mapping) items(root any) ([]any, error) {
	list := root

	if m.alerts != "" {
		var ok bool
		if list, ok = field.Find(root, m.alerts); !ok {
			return nil, tarsy.FieldErrorf(tarsy.CodeMissingField, m.alerts, "The body has no list of alerts at %s, where the mapping of the receiver expects it.", m.alerts)
		}
	}

	switch list := list.(type) {
	case []any:
		return list, nil
	case map[string]any:
		return []any{list}, nil
	default:
		if !hasContent(list) {
			return nil, checkItems(nil)
		}

		return nil, tarsy.FieldErrorf(tarsy.CodeInvalidField, m.alerts, "An object with an alert, or a list of them, is expected.")
	}
}

func (m mapping) report(item, root any) report {
	text := func(f field.Field) string { return f.Text(item, root) }

	rep := report{document: readDocument(compact(item)), fingerprint: text(m.fingerprint), data: readable(item)}

	if labels, ok := field.Find(item, m.labels); m.labels != "" && ok {
		if labels, ok := labels.(map[string]any); ok {
			rep.labels = overlay(rep.labels, texts(labels))
		}
	}

	rep.facts = tarsy.AlertFacts{
		Title: oneLine(text(m.title), tarsy.MaxTitle), Severity: ParseSeverity(text(m.severity)), Service: text(m.service),
		Namespace: text(m.namespace), Cluster: text(m.cluster), Team: text(m.team), StartsAt: parseTime(text(m.startsAt)),
		Links: []tarsy.AlertLink{{Kind: tarsy.LinkRunbook, URL: text(m.runbook)}},
	}

	for _, link := range m.links {
		rep.facts.Links = append(rep.facts.Links, tarsy.AlertLink{Kind: link.kind, URL: text(link.field)})
	}

	if m.fingerprint.Empty() {
		rep.fingerprint = ownID(item, rep.fields)
	}

	rep.phase = m.phase(text(m.status), item, rep.fields)
	rep.resolved = rep.phase == resolvedPhase

	// The text changes when the alert is resolved, so it identifies an alert only if there is nothing else.
	if known := lookup(titleNames, rep.annotations, rep.fields); rep.facts.Title != "" || known != "" || len(rep.labels) > 0 {
		rep.identity = append([]string{rep.facts.Title, known}, pairs(rep.labels)...)
	}

	return rep
}

// phase returns the phase of an alert: from the field and the words of the mapping, or else from the well-known ones.
func (m mapping) phase(status string, item any, fields map[string]string) phase {
	switch {
	case m.status.Empty() && len(m.resolved) == 0:
		return phaseIn(item, fields)
	case m.status.Empty():
		status = lookup(statusNames, fields)
	}

	if len(m.resolved) == 0 {
		return phaseOf(status)
	}

	if slices.ContainsFunc(m.resolved, func(word string) bool { return strings.EqualFold(word, strings.TrimSpace(status)) }) {
		return resolvedPhase
	}

	return fires
}

func compact(item any) string {
	raw, err := json.Marshal(item)
	if err != nil {
		return ""
	}

	return string(raw)
}

// connectGeneric returns a command that sends the alert in alert.json.
func connectGeneric(r Endpoint) string {
	var comments, headers strings.Builder

	if token := r.bearer(); token != "" {
		fmt.Fprintf(&comments, "# TARSY_TOKEN is %s\n", token)
		headers.WriteString("  -H \"Authorization: Bearer $TARSY_TOKEN\" \\\n")
	}

	if r.SecretEnv != "" {
		fmt.Fprintf(&comments, "# TARSY_SECRET is the value of %s on the server\n", r.SecretEnv)
		headers.WriteString(`  -H "X-Signature-256: sha256=$(openssl dgst -sha256 -hmac "$TARSY_SECRET" -r alert.json | cut -d ' ' -f 1)" \` + "\n")
	}

	return fmt.Sprintf("%scurl -X POST '%s' \\\n%s  -H \"Content-Type: application/json\" --data-binary @alert.json\n", comments.String(), r.URL, headers.String())
}
