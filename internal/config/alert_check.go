package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/nearest"
)

// receiverName matches names that need no escaping in the path of a webhook.
var receiverName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// DefaultReceiver is the name of the Alertmanager and Grafana receivers that always exist.
const DefaultReceiver = "default"

var topicARN = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_.-]+$`)

// Receivers lists the webhooks sorted by source and name, including those that always exist.
func (c *Config) Receivers() []Receiver {
	all := slices.Collect(maps.Values(c.Alerts.Receivers))
	for _, source := range []string{string(tarsy.SourceAlertmanager), string(tarsy.SourceGrafana)} {
		if c.Alerts.Receivers[DefaultReceiver].Source != source {
			all = append(all, Receiver{Name: DefaultReceiver, Source: source})
		}
	}
	slices.SortFunc(all, func(a, b Receiver) int { return strings.Compare(a.Path(), b.Path()) })
	return all
}

// Receiver returns the webhook with a source and name.
func (c *Config) Receiver(source, name string) (Receiver, bool) {
	all := c.Receivers()
	i := slices.IndexFunc(all, func(r Receiver) bool { return r.Source == source && r.Name == name })
	if i < 0 {
		return Receiver{}, false
	}
	return all[i], true
}

// Path returns the path on the server that senders post to.
func (r Receiver) Path() string { return "/api/v1/webhooks/" + r.Source + "/" + r.Name }

// Auth returns how senders authenticate: with a signature, a token, or only with an API key.
func (r Receiver) Auth() string {
	switch {
	case r.SecretEnv != "" || len(r.Topics) > 0:
		return "signature"
	case r.TokenEnv != "":
		return "token"
	default:
		return "api_key"
	}
}

// UnsetReceiverVariables finds the environment variables of receivers that are not set; such receivers accept only API keys.
func (c *Config) UnsetReceiverVariables(env func(string) (string, bool)) []Problem {
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Alerts.Receivers)) {
		r, path := c.Alerts.Receivers[name], joinPath("alerts.receivers", name)
		for _, v := range []struct{ key, variable string }{{"token_env", r.TokenEnv}, {"secret_env", r.SecretEnv}} {
			if value, _ := env(v.variable); v.variable != "" && value == "" {
				problems = append(problems, c.problem(joinPath(path, v.key), "environment variable "+v.variable+" is not set",
					"requests to the receiver are refused with 401, unless they have an API key"))
			}
		}
	}
	return problems
}

// checkReceivers finds webhooks that no one could call, or that anyone could call.
func (c *Config) checkReceivers() []Problem {
	var problems []Problem
	for _, name := range slices.Sorted(maps.Keys(c.Alerts.Receivers)) {
		r, path := c.Alerts.Receivers[name], joinPath("alerts.receivers", name)
		add := func(key, message, hint string) {
			problems = append(problems, c.problem(joinPath(path, key), message, hint))
		}
		if !receiverName.MatchString(name) {
			problems = append(problems, c.problem(path, "not a valid name in a URL",
				"use up to 64 letters, digits, dots, dashes and underscores, and begin with a letter or digit"))
		}
		if r.Source == string(tarsy.SourcePagerDuty) && r.SecretEnv == "" && r.TokenEnv == "" {
			add("secret_env", "is required", "the variable with the secret that PagerDuty shows when the subscription is created, or token_env")
		}
		if r.Source != "" && r.Source != string(tarsy.SourceGeneric) && !r.Mapping.empty() {
			add("mapping", "is only for the source generic", "the bodies of "+r.Source+" are known: leave it out")
		}
		if len(r.Topics) > 0 && r.Source != string(tarsy.SourceCloudWatch) {
			add("topics", "is only for the source cloudwatch", "leave it out")
		}
		for i, topic := range r.Topics {
			if !topicARN.MatchString(topic) {
				add(fmt.Sprintf("topics[%d]", i), "not the ARN of a topic of Amazon SNS", "such as arn:aws:sns:eu-central-1:123456789012:alarms")
			}
		}
		for label := range r.Labels {
			if label == "" {
				add("labels", "a label needs a name", "")
			}
		}
		problems = append(problems, c.checkLinks(joinPath(path, "mapping")+".links", r.Mapping.Links)...)
	}
	return problems
}

func (m Mapping) empty() bool {
	return len(m.texts()) == 0 && m.Resolved == nil
}

// texts returns the paths and templates of a mapping by key.
func (m Mapping) texts() map[string]string {
	all := map[string]string{
		"alerts": m.Alerts, "title": m.Title, "severity": m.Severity, "service": m.Service, "namespace": m.Namespace, "cluster": m.Cluster,
		"team": m.Team, "fingerprint": m.Fingerprint, "status": m.Status, "starts_at": m.StartsAt, "labels": m.Labels, "runbook": m.Runbook,
	}
	for kind, text := range m.Links {
		all["links."+kind] = text
	}
	maps.DeleteFunc(all, func(_, text string) bool { return text == "" })
	return all
}

// checkLinks rejects links of unknown kinds.
func (c *Config) checkLinks(path string, links map[string]string) []Problem {
	var problems []Problem
	for _, kind := range slices.Sorted(maps.Keys(links)) {
		if !slices.Contains(linkKinds(), kind) {
			problems = append(problems, c.problem(joinPath(path, kind), "unknown kind of link", nearest.HintWithList(kind, linkKinds(), "kinds")))
		}
	}
	return problems
}

// checkGrouping rejects a list of labels that would put all alerts into one group.
func (c *Config) checkGrouping() []Problem {
	var problems []Problem
	if _, set := c.marks["alerts.group_by"]; set && len(c.Alerts.GroupBy) == 0 {
		problems = append(problems, c.problem("alerts.group_by", "is empty", "leave it out for alertname, cluster and namespace"))
	}
	for i, name := range c.Alerts.GroupBy {
		if name == "" {
			problems = append(problems, c.problem(fmt.Sprintf("alerts.group_by[%d]", i), "a label needs a name", ""))
		}
	}
	return problems
}

// linkKinds returns the kinds of links that an alert can have.
func linkKinds() []string {
	return []string{
		string(tarsy.LinkGenerator), string(tarsy.LinkDashboard), string(tarsy.LinkPanel), string(tarsy.LinkRunbook), string(tarsy.LinkSilence),
		string(tarsy.LinkIncident),
	}
}
