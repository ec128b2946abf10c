package alert

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

//go:embed sample/pagerduty.json
var pagerDutySample string

func pagerDuty() Source {
	return Source{
		Name: tarsy.SourcePagerDuty, Sample: pagerDutySample, Connect: connectPagerDuty,
		read: readPagerDuty, signing: signing{headers: []string{"X-PagerDuty-Signature"}, prefix: "v1="},
	}
}

func readPagerDuty(r config.Receiver, body []byte) (reading, error) {
	event, err := pagerDutyEventOf(body)
	if err != nil {
		return reading{}, err
	}

	return reading{reports: event.reports(r), id: event.ID, other: event.describe()}, nil
}

// pagerDutyEvent is the event of a PagerDuty v3 webhook.
type pagerDutyEvent struct {
	ID           string
	Type         string
	ResourceType string
	OccurredAt   string
	Data         json.RawMessage
}

// pagerDutyIncident is event.data of incident events.
type pagerDutyIncident struct {
	ID          word       `json:"id"`
	HTMLURL     word       `json:"html_url"`
	Number      word       `json:"number"`
	IncidentKey word       `json:"incident_key"`
	CreatedAt   word       `json:"created_at"`
	Title       word       `json:"title"`
	Urgency     word       `json:"urgency"`
	Service     reference  `json:"service"`
	Priority    reference  `json:"priority"`
	Policy      reference  `json:"escalation_policy"`
	Teams       references `json:"teams"`
}

// reference is a reference to another PagerDuty object.
type reference struct {
	Summary word `json:"summary"`
}

// references is a list that may be missing or null.
type references []reference

// title returns the incident's title, or one made of fields that are always present.
func (i pagerDutyIncident) title() string {
	if i.Title != "" || i.Number == "" {
		return string(i.Title)
	}

	return strings.TrimSpace("PagerDuty incident " + string(i.Number) + " " + string(i.Service.Summary))
}

// first returns the name of the first reference.
func (r references) first() string {
	if len(r) == 0 {
		return ""
	}

	return string(r[0].Summary)
}

func pagerDutyEventOf(body []byte) (pagerDutyEvent, error) {
	var b struct {
		Event *struct {
			ID           word            `json:"id"`
			Type         word            `json:"event_type"`
			ResourceType word            `json:"resource_type"`
			OccurredAt   word            `json:"occurred_at"`
			Data         json.RawMessage `json:"data"`
		} `json:"event"`
	}

	if err := decode(body, &b); err != nil {
		return pagerDutyEvent{}, err
	}

	if b.Event == nil {
		return pagerDutyEvent{}, tarsy.FieldErrorf(tarsy.CodeMissingField, "event", "The field event is missing: an event of a PagerDuty v3 webhook is expected.")
	}

	for _, field := range []struct {
		name  string
		value word
	}{{"event.id", b.Event.ID}, {"event.event_type", b.Event.Type}} {
		if field.value == "" {
			return pagerDutyEvent{}, tarsy.FieldErrorf(tarsy.CodeMissingField, field.name, "The field %s is missing.", field.name)
		}
	}

	return pagerDutyEvent{
		ID: string(b.Event.ID), Type: string(b.Event.Type), ResourceType: string(b.Event.ResourceType),
		OccurredAt: string(b.Event.OccurredAt), Data: b.Event.Data,
	}, nil
}

// reports returns the alert of an event, or nothing for an event that neither starts nor ends an incident.
func (e pagerDutyEvent) reports(r config.Receiver) []report {
	resolved := e.Type == "incident.resolved"
	if !resolved && e.Type != "incident.triggered" && e.Type != "incident.reopened" {
		return nil
	}

	var incident pagerDutyIncident
	if json.Unmarshal(e.Data, &incident) != nil {
		incident = pagerDutyIncident{} // its data is shown verbatim
	}

	rep := report{fingerprint: string(incident.IncidentKey), resolved: resolved}
	if rep.fingerprint == "" {
		rep.fingerprint = string(incident.ID)
	}

	rep.labels = map[string]string{}
	for name, value := range map[string]string{
		"incident_id": string(incident.ID), "incident_number": string(incident.Number), "incident_key": string(incident.IncidentKey),
		"urgency": string(incident.Urgency), "priority": string(incident.Priority.Summary), "service": string(incident.Service.Summary),
		"team": incident.Teams.first(), "escalation_policy": string(incident.Policy.Summary),
	} {
		if strings.TrimSpace(value) != "" {
			rep.labels[name] = value
		}
	}

	rep.links = []tarsy.AlertLink{{Kind: tarsy.LinkIncident, URL: string(incident.HTMLURL)}}
	rep.facts = tarsy.AlertFacts{
		Title: incident.title(), Service: string(incident.Service.Summary), Team: incident.Teams.first(), StartsAt: parseTime(string(incident.CreatedAt)),
	}

	rep.facts.Severity = ParseSeverity(string(incident.Priority.Summary))
	if rep.facts.Severity == tarsy.SeverityUnknown {
		rep.facts.Severity = ParseSeverity(string(incident.Urgency))
	}

	shown := view{Source: r.Source, Receiver: r.Name, Status: statusOf(resolved), Event: e.Type, OccurredAt: parseTime(e.OccurredAt)}
	if len(e.Data) > 0 {
		shown.Incident = e.Data
	}

	rep.data = readable(shown)

	return []report{rep}
}

func (e pagerDutyEvent) describe() string {
	if e.Type == "pagey.ping" {
		return "PagerDuty tests the connection (pagey.ping)."
	}

	return "PagerDuty reports " + oneLine(e.Type, maxFact) + ", which neither starts nor ends an incident."
}

// connectPagerDuty returns a command that creates a webhook subscription with PagerDuty's API.
func connectPagerDuty(r Endpoint) string {
	delivery := map[string]any{"type": "http_delivery_method", "url": r.URL}
	comments := `# PAGERDUTY_API_KEY is a key of PagerDuty's REST API, and SERVICE the ID of the service whose incidents are sent.
`

	if token := r.bearer(); token != "" {
		delivery["custom_headers"] = []map[string]string{{"name": "Authorization", "value": "Bearer TARSY_TOKEN"}}
		comments += "# Replace TARSY_TOKEN by " + token + ".\n"
	}

	if r.SecretEnv != "" {
		comments += "# The response has delivery_method.secret, once: set " + r.SecretEnv + " on the server to it, and restart the server.\n"
	}

	body := indented(map[string]any{"webhook_subscription": map[string]any{
		"type":            "webhook_subscription",
		"description":     "TARSy",
		"delivery_method": delivery,
		"events":          []string{"incident.triggered", "incident.reopened", "incident.resolved"},
		"filter":          map[string]string{"type": "service_reference", "id": "SERVICE"},
	}})
	return fmt.Sprintf(`%s# In the web app: Integrations > Generic Webhooks (v3) > New Webhook, with the same URL and events.
curl -X POST https://api.pagerduty.com/webhook_subscriptions \
  -H "Authorization: Token token=$PAGERDUTY_API_KEY" \
  -H "Content-Type: application/json" \
  --data-binary '%s'
`, comments, strings.ReplaceAll(body, "'", `'\''`))
}
