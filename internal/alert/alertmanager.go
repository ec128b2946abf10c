package alert

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/config"
)

// groupBody is the body of an Alertmanager webhook, version 4. Grafana sends the same body with additional fields.
type groupBody struct {
	Version           word         `json:"version"`
	GroupKey          word         `json:"groupKey"`
	TruncatedAlerts   word         `json:"truncatedAlerts"`
	Status            word         `json:"status"`
	Receiver          word         `json:"receiver"`
	GroupLabels       words        `json:"groupLabels"`
	CommonLabels      words        `json:"commonLabels"`
	CommonAnnotations words        `json:"commonAnnotations"`
	ExternalURL       word         `json:"externalURL"`
	Alerts            *[]alertBody `json:"alerts"`

	// Only from Grafana.
	OrgID   word `json:"orgId"`
	Title   word `json:"title"`
	State   word `json:"state"`
	Message word `json:"message"`
}

type alertBody struct {
	Status       word  `json:"status"`
	Labels       words `json:"labels"`
	Annotations  words `json:"annotations"`
	StartsAt     word  `json:"startsAt"`
	EndsAt       word  `json:"endsAt"`
	GeneratorURL word  `json:"generatorURL"`
	Fingerprint  word  `json:"fingerprint"`

	// Only from Grafana.
	Values       json.RawMessage `json:"values"`
	ValueString  word            `json:"valueString"`
	DashboardURL word            `json:"dashboardURL"`
	PanelURL     word            `json:"panelURL"`
	SilenceURL   word            `json:"silenceURL"`
	ImageURL     word            `json:"imageURL"`
}

// group describes, in the text of an alert, the group that the alert was delivered with.
type group struct {
	Receiver          string            `json:"sender_receiver,omitempty"`
	Labels            map[string]string `json:"labels,omitempty"`
	CommonLabels      map[string]string `json:"common_labels,omitempty"`
	CommonAnnotations map[string]string `json:"common_annotations,omitempty"`
	Title             string            `json:"title,omitempty"`
	Message           string            `json:"message,omitempty"`
	ExternalURL       string            `json:"external_url,omitempty"`
	Alerts            int               `json:"alerts"`
	Firing            int               `json:"firing"`
	// Alerts of the group that the sender omitted.
	Truncated int `json:"truncated_alerts,omitempty"`
}

// maxGroup limits the size of the group section, which is repeated in every alert of the delivery.
const maxGroup = 8 << 10

//go:embed sample/alertmanager.json
var alertmanagerSample string

func alertmanager() Source {
	return Source{
		Name: tarsy.SourceAlertmanager, Sample: alertmanagerSample, Connect: connectAlertmanager,
		read: readAlertmanager, signing: signedByProxies(),
		recognizes: func(object map[string]json.RawMessage) bool {
			_, ok := groupOf(object)

			return ok
		},
	}
}

func readAlertmanager(r config.Receiver, body []byte) (reading, error) {
	b, err := readGroup(body)
	if err != nil {
		return reading{}, err
	}

	if b.Version != "" && b.Version != "4" {
		return reading{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "version",
			"Version %s of Alertmanager's webhook is not supported; versions of Alertmanager since 0.5 send version 4.", oneLine(string(b.Version), maxFact))
	}

	return reading{reports: b.reports(r)}, nil
}

// readGroup reads a body with a list of alerts.
func readGroup(body []byte) (groupBody, error) {
	var b groupBody
	if err := decode(body, &b); err != nil {
		return b, err
	}

	if b.Alerts == nil {
		return b, tarsy.FieldErrorf(tarsy.CodeMissingField, "alerts", "The field alerts is missing: a list of alerts is expected.")
	}

	return b, checkCount(len(*b.Alerts))
}

func (b groupBody) reports(r config.Receiver) []report {
	about := b.group()
	reports := make([]report, len(*b.Alerts))

	for i, a := range *b.Alerts {
		reports[i] = a.report(r, b, about)
	}

	return reports
}

func (b groupBody) group() group {
	about := group{
		Receiver: string(b.Receiver), Labels: b.GroupLabels, CommonLabels: b.CommonLabels, CommonAnnotations: b.CommonAnnotations,
		Title: string(b.Title), Message: string(b.Message), ExternalURL: string(b.ExternalURL), Alerts: len(*b.Alerts),
	}

	for _, a := range *b.Alerts {
		if !a.resolved(b) {
			about.Firing++
		}
	}

	about.Truncated, _ = strconv.Atoi(string(b.TruncatedAlerts)) // 0 if the sender does not report a count
	about.Truncated = max(about.Truncated, 0)

	if raw, err := json.Marshal(about); err != nil || len(raw) > maxGroup {
		about = group{Alerts: about.Alerts, Firing: about.Firing, Truncated: about.Truncated}
	}

	return about
}

func (a alertBody) resolved(b groupBody) bool {
	status := a.Status
	if status == "" {
		status = b.Status
	}

	return strings.EqualFold(string(status), "resolved")
}

func (a alertBody) report(r config.Receiver, b groupBody, about group) report {
	resolved := a.resolved(b)

	// Alertmanager itself repeats the common labels and annotations in each alert.
	about.CommonLabels = without(about.CommonLabels, a.Labels)
	about.CommonAnnotations = without(about.CommonAnnotations, a.Annotations)

	rep := report{
		document: document{
			labels: a.Labels, annotations: a.Annotations,
			links: []tarsy.AlertLink{
				{Kind: tarsy.LinkGenerator, URL: string(a.GeneratorURL)},
				{Kind: tarsy.LinkDashboard, URL: string(a.DashboardURL)},
				{Kind: tarsy.LinkPanel, URL: string(a.PanelURL)},
				{Kind: tarsy.LinkSilence, URL: string(a.SilenceURL)},
			},
		},
		fingerprint: string(a.Fingerprint),
		resolved:    resolved,
	}
	rep.facts.StartsAt = parseTime(string(a.StartsAt))

	shown := view{
		Source: r.Source, Receiver: r.Name, Status: statusOf(resolved), Labels: a.Labels, Annotations: a.Annotations,
		ValueString: string(a.ValueString), StartsAt: rep.facts.StartsAt, Links: map[string]string{}, Image: string(a.ImageURL),
		Fingerprint: string(a.Fingerprint), Group: &about,
	}

	if len(a.Values) > 0 && string(a.Values) != "null" {
		shown.Values = a.Values
	}

	if resolved {
		shown.EndsAt = parseTime(string(a.EndsAt))
	}

	for _, link := range cleanLinks(rep.links) {
		shown.Links[string(link.Kind)] = link.URL
	}

	rep.data = readable(shown)

	return rep
}

// without returns the values that others lacks, or nil if there are none.
func without(values, others map[string]string) map[string]string {
	var left map[string]string

	for name, value := range values {
		if others[name] == value {
			continue
		}

		if left == nil {
			left = map[string]string{}
		}

		left[name] = value
	}

	return left
}

func connectAlertmanager(r Endpoint) string {
	note := ""
	if r.SecretEnv != "" {
		note = "# Alertmanager does not sign what it sends: use token_env instead of secret_env, or a proxy that adds X-Signature-256.\n"
	}

	const file = "/etc/alertmanager/tarsy-token"

	return note + "# alertmanager.yml; " + file + " contains " + cmp.Or(r.bearer(), r.newKey()) + "\n" +
		AlertmanagerConfig(r.URL, file)
}

// AlertmanagerConfig returns the alertmanager.yml snippet that makes Alertmanager send alerts to our receiver. Credentials is
// the token, a placeholder for it, or the path of a file that contains it.
func AlertmanagerConfig(url, credentials string) string {
	key := "credentials"
	if strings.HasPrefix(credentials, "/") {
		key = "credentials_file"
	}

	return fmt.Sprintf(`receivers:
  - name: tarsy
    webhook_configs:
      - url: %q
        send_resolved: true
        http_config:
          authorization:
            type: Bearer
            %s: %q
route:
  receiver: tarsy  # or paste the webhook_configs into the receivers that you have
`, url, key, credentials)
}
