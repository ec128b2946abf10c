package alert

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

//go:embed sample/sentry.json
var sentrySample string

func sentry() Source {
	return Source{
		Name: tarsy.SourceSentry, Sample: sentrySample, Connect: connectSentry,
		read: readSentry, signing: signing{headers: []string{"Sentry-Hook-Signature"}},
	}
}

// sentryObject is an object in a body: the body of a webhook, or an issue, event or metric alert in its data. A field of an
// unexpected type reads as empty; the text of the alert shows it verbatim.
type sentryObject map[string]json.RawMessage

// text returns the first of the fields that is a non-empty string.
func (o sentryObject) text(names ...string) string {
	for _, name := range names {
		var value word
		if json.Unmarshal(o[name], &value) == nil && value != "" {
			return string(value)
		}
	}

	return ""
}

// object returns an object field, or nil if it is not an object.
func (o sentryObject) object(name string) sentryObject {
	var object sentryObject
	if json.Unmarshal(o[name], &object) != nil {
		return nil
	}

	return object
}

// resource returns the type of the webhook's data. The Sentry-Hook-Resource header names it too, but is not signed.
func (o sentryObject) resource() string {
	for _, known := range []struct{ field, resource string }{
		{"metric_alert", "metric_alert"}, {"activity", "activity_alert"}, {"event", "event_alert"}, {"issue", "issue"}, {"error", "error"},
		{"comment", "comment"}, {"installation", "installation"},
	} {
		if raw := o[known.field]; len(raw) > 0 && string(raw) != "null" {
			return known.resource
		}
	}

	return ""
}

func readSentry(r config.Receiver, body []byte) (reading, error) {
	var b sentryObject
	if err := decode(body, &b); err != nil {
		return reading{}, err
	}

	if b.isPlugin() {
		rep := b.plugin().issue("event_alert.triggered")

		return reading{reports: []report{rep.sentry(r, "event_alert.triggered", body)}}, nil
	}

	data := b.object("data")

	switch {
	case data == nil:
		return reading{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "data", "The object data is missing: a webhook of a Sentry integration is expected.")
	case b.text("action") == "":
		return reading{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "action", "The field action is missing.")
	}

	event := strings.TrimPrefix(data.resource()+"."+b.text("action"), ".")
	if sentryPhase(event) == unchanged {
		return reading{other: "Sentry reports " + oneLine(event, maxFact) + ", which neither starts nor ends an alert."}, nil
	}

	var rep report

	switch data.resource() {
	case "metric_alert":
		rep = data.metricAlert(b.text("action"))
	case "event_alert":
		rep = data.object("event").issue(event)
	default:
		rep = data.object("issue").issue(event)
	}

	setLabel(rep.labels, "rule", data.text("triggered_rule"))

	return reading{reports: []report{rep.sentry(r, event, b["data"])}}, nil
}

// sentryPhase returns the phase for an event. Archiving an issue ends its alert, as resolving does; Sentry reports the issue as
// unresolved when it escalates.
func sentryPhase(event string) phase {
	switch event {
	case "event_alert.triggered", "issue.created", "issue.unresolved", "metric_alert.critical", "metric_alert.warning", "metric_alert.open":
		return fires
	case "issue.resolved", "issue.archived", "issue.ignored", "metric_alert.resolved":
		return resolvedPhase
	default:
		return unchanged
	}
}

// isPlugin reports whether a body is from the legacy WebHooks plugin, which sends neither action nor data.
func (o sentryObject) isPlugin() bool {
	return o["data"] == nil && o.text("project_slug") != "" && o.text("id") != "" && o.object("event") != nil
}

// plugin returns the event in a body of the legacy plugin, with the fields of integration events.
func (o sentryObject) plugin() sentryObject {
	event := o.object("event")
	event["issue_id"], event["web_url"], event["project"] = o["id"], o["url"], json.RawMessage(`{"slug": `+string(o["project_slug"])+`}`)

	for _, name := range []string{"level", "message"} {
		if event.text(name) == "" {
			event[name] = o[name]
		}
	}

	return event
}

// issue reads an issue, or an event with its issue ID: both report the same alert.
func (o sentryObject) issue(event string) report {
	project, at := cmp.Or(o.object("project").text("slug", "name"), sentryProject(o.text("url"))), o.text("firstSeen")

	id := o.text("id")
	if event == "event_alert.triggered" {
		id, at = o.text("issue_id"), o.text("datetime", "timestamp") // id is the ID of the event
	}

	if event == "issue.unresolved" {
		at = o.text("lastSeen") // it has recurred, possibly after years
	}

	rep := report{fingerprint: id, identity: []string{o.text("title", "message"), project}}
	rep.facts = tarsy.AlertFacts{
		Title: cmp.Or(o.text("title", "message"), "Sentry issue "+cmp.Or(o.text("shortId"), id)), Severity: ParseSeverity(o.text("level")),
		Service: project, StartsAt: parseTime(at),
	}
	rep.links = []tarsy.AlertLink{{Kind: tarsy.LinkIncident, URL: o.text("web_url", "permalink")}}
	rep.labels = map[string]string{}

	var tags [][]word // pairs of name and value

	_ = json.Unmarshal(o["tags"], &tags) // entries that are not lists stay empty and are skipped

	for _, tag := range tags {
		// Anyone with the public DSN of a project can set tags. Tags must not decide who sees the alert.
		if len(tag) == 2 && !slices.Contains([]string{"team", "owner", "squad"}, string(tag[0])) {
			setLabel(rep.labels, string(tag[0]), string(tag[1]))
		}
	}

	for _, name := range []string{"level", "priority", "platform", "environment"} {
		setLabel(rep.labels, name, o.text(name))
	}

	setLabel(rep.labels, "project", project)
	setLabel(rep.labels, "issue", o.text("shortId"))
	setLabel(rep.labels, "issue_id", id)

	return rep
}

// metricAlert reads the incident of a metric alert, which lasts while the metric is beyond its threshold.
func (o sentryObject) metricAlert(action string) report {
	incident := o.object("metric_alert")
	rule := incident.object("alert_rule")
	title := cmp.Or(rule.text("name"), incident.text("title"), o.text("description_title"))

	rep := report{identity: []string{title}}
	if id := incident.text("identifier"); id != "" {
		rep.fingerprint = "metric_alert:" + id // issue IDs are numbers too
	}

	rep.facts = tarsy.AlertFacts{Title: title, Severity: ParseSeverity(action), StartsAt: parseTime(incident.text("date_started"))}
	rep.links = []tarsy.AlertLink{{Kind: tarsy.LinkIncident, URL: o.text("web_url")}}
	rep.labels = map[string]string{}

	var projects []word
	if json.Unmarshal(incident["projects"], &projects) == nil && len(projects) > 0 {
		rep.facts.Service = string(projects[0])
	}

	setLabel(rep.labels, "project", rep.facts.Service)
	setLabel(rep.labels, "rule", rule.text("name"))

	for _, name := range []string{"environment", "aggregate", "query"} {
		setLabel(rep.labels, name, rule.text(name))
	}

	return rep
}

// sentry completes a report with the phase of the event and its text.
func (rep report) sentry(r config.Receiver, event string, data []byte) report {
	rep.resolved = sentryPhase(event) == resolvedPhase
	rep.data = readable(view{
		Source: r.Source, Receiver: r.Name, Status: statusOf(rep.resolved), Event: event, StartsAt: rep.facts.StartsAt, Incident: json.RawMessage(data),
	})

	return rep
}

// setLabel sets a label if its name and value are not empty.
func setLabel(labels map[string]string, name, value string) {
	if name != "" && strings.TrimSpace(value) != "" {
		labels[name] = value
	}
}

// sentryProject returns the project slug in an event URL (…/api/0/projects/<organization>/<project>/events/…); the event itself
// has only the project's number.
func sentryProject(url string) string {
	const at = 1

	_, path, _ := strings.Cut(url, "/api/0/projects/")
	if parts := strings.Split(path, "/"); len(parts) > at {
		return parts[at]
	}

	return ""
}

// connectSentry describes how to create an internal integration, which signs with its client secret.
func connectSentry(r Endpoint) string {
	header, secret := "", "# Prefer secret_env: Sentry signs what it sends, and only recent versions of it send custom headers.\n"

	if token := r.bearer(); token != "" {
		header = "Custom header:     Authorization: Bearer TARSY_TOKEN\n# Replace TARSY_TOKEN by " + token + ".\n"
	}

	if r.SecretEnv != "" {
		secret = "# Save. Set " + r.SecretEnv + " on the server to the Client Secret of the integration, and restart the server.\n"
	}

	return `# In Sentry: Settings > Developer Settings > Create New Integration > Internal Integration
Name:              TARSy
Webhook URL:       ` + r.URL + `
Alert Rule Action: on
Permissions:       Issue & Event: Read
Webhooks:          issue
` + header + secret + `# In your alerts, add the action: Send a notification via TARSy. The webhook issue reports the end of issues, and also every new issue.
`
}
