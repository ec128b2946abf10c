package config

import "time"

// Alerts is the section about incoming alerts: who sends them, how they are routed, and which are not investigated.
type Alerts struct {
	Receivers   map[string]Receiver  `yaml:"receivers" doc:"Webhook receivers by name, at /api/v1/webhooks/{source}/{name}. The receivers alertmanager/default and grafana/default always exist and require an API key with the scope write."`
	Fields      AlertFields          `yaml:"fields" doc:"Labels and annotations to read facts from, instead of the default ones; the first one present is used."`
	Routes      []AlertRoute         `yaml:"routes" doc:"Routes for alerts; the first one that matches is used. Alerts that specify an alert type are routed too."`
	GroupBy     []string             `yaml:"group_by" doc:"Labels to group alerts by; the default is alertname, cluster and namespace."`
	Deduplicate Deduplicate          `yaml:"deduplicate" doc:"Deduplication of repeated alerts."`
	Storm       Storm                `yaml:"storm" doc:"When alerts of a group are investigated together."`
	Resolved    Resolved             `yaml:"resolved" doc:"What happens when a sender reports that an alert is resolved."`
	Maintenance []Maintenance        `yaml:"maintenance" doc:"Maintenance windows: matching alerts are not investigated, and are listed as suppressed."`
	WriteBack   map[string]WriteBack `yaml:"write_back" doc:"Outgoing webhooks, chat messages, e-mail and notes by name, that report on alerts." restart:"true"`
}

// Receiver is one entry of alerts.receivers.
type Receiver struct {
	Name string `yaml:"-"`

	Source    string            `yaml:"source" doc:"The source of its deliveries." enum:"@webhook_source" required:"true"`
	TokenEnv  string            `yaml:"token_env" doc:"Environment variable that holds the token that the sender passes in the Authorization header (Bearer). Without token_env and secret_env, an API key with the scope write is required." format:"env" secret:"env"`
	SecretEnv string            `yaml:"secret_env" doc:"Environment variable that holds the secret of the sender's signature (HMAC-SHA256). Required for PagerDuty unless token_env is set." format:"env" secret:"env"`
	Topics    []string          `yaml:"topics" doc:"ARNs of Amazon SNS topics, for the source cloudwatch. Their messages are authenticated by the signature of Amazon SNS and need no API key."`
	AlertType string            `yaml:"alert_type" doc:"Alert type, unless a route sets it. The default is the label alertname if it is an alert type, else the default alert type." ref:"alert_types"`
	Labels    map[string]string `yaml:"labels" doc:"Labels to add to every alert, such as the cluster; the alert's own labels take precedence."`
	Mapping   Mapping           `yaml:"mapping" doc:"Where to find the facts in a generic body."`
}

// Mapping is alerts.receivers.<name>.mapping: paths such as incident.labels.app or items.0.title, or templates such as {{.incident.title}}.
type Mapping struct {
	Alerts      string            `yaml:"alerts" doc:"Path of the list of alerts in a body with several alerts; by default, the body is one alert." format:"path" runtime:"*"`
	Title       string            `yaml:"title" doc:"Title." format:"mapping" runtime:"*"`
	Severity    string            `yaml:"severity" doc:"Severity." format:"mapping" runtime:"*"`
	Service     string            `yaml:"service" doc:"Service." format:"mapping" runtime:"*"`
	Namespace   string            `yaml:"namespace" doc:"Namespace." format:"mapping" runtime:"*"`
	Cluster     string            `yaml:"cluster" doc:"Cluster." format:"mapping" runtime:"*"`
	Team        string            `yaml:"team" doc:"Team." format:"mapping" runtime:"*"`
	Fingerprint string            `yaml:"fingerprint" doc:"Identity of the alert. The default is a field that docs/alerts.md lists, such as fingerprint, dedup_key or alert.alias, else title and labels." format:"mapping" runtime:"*"`
	Status      string            `yaml:"status" doc:"Whether the alert is firing." format:"mapping" runtime:"*"`
	Resolved    []string          `yaml:"resolved" doc:"Values of status that mean that the alert is resolved; the default is resolved, ok, closed, recovered, normal, up and the others that docs/alerts.md lists."`
	StartsAt    string            `yaml:"starts_at" doc:"Start of the problem: RFC 3339, or Unix time in seconds or milliseconds." format:"mapping" runtime:"*"`
	Labels      string            `yaml:"labels" doc:"Path of an object with labels." format:"path" runtime:"*"`
	Links       map[string]string `yaml:"links" doc:"Links by kind: generator, dashboard, panel, runbook, silence or incident." format:"mapping" runtime:"*"`
	Runbook     string            `yaml:"runbook" doc:"URL of the runbook." format:"mapping" runtime:"*"`
}

// AlertFields is alerts.fields.
type AlertFields struct {
	Title     []string `yaml:"title" doc:"Title; the default is summary and title, then the others that docs/alerts.md lists."`
	Severity  []string `yaml:"severity" doc:"Severity; the default is severity, priority, level and alert_priority."`
	Service   []string `yaml:"service" doc:"Service; the default is service, app, app_kubernetes_io_name, deployment, job and component."`
	Namespace []string `yaml:"namespace" doc:"Namespace; the default is namespace, kubernetes_namespace and exported_namespace."`
	Cluster   []string `yaml:"cluster" doc:"Cluster; the default is cluster, cluster_name, k8s_cluster and environment."`
	Team      []string `yaml:"team" doc:"Team; the default is team, owner and squad."`
}

// AlertRoute is one entry of alerts.routes. Its empty fields leave the alert unchanged.
type AlertRoute struct {
	Name       string   `yaml:"name" doc:"Display name, shown in explanations."`
	Match      []string `yaml:"match" doc:"Matchers that must all match, such as namespace=\"payments\", severity!=\"info\" or alertname=~\"Disk.*\", on labels and on source, receiver, alert_type, title, severity, service, namespace, cluster and team. An empty list matches every alert." format:"matcher"`
	AlertType  string   `yaml:"alert_type" doc:"Alert type to set." ref:"alert_types"`
	Chain      string   `yaml:"chain" doc:"Chain that investigates the alert, regardless of its type." ref:"agent_chains"`
	Severity   string   `yaml:"severity" doc:"Severity to set." enum:"critical,high,warning,info"`
	Team       string   `yaml:"team" doc:"Team to set."`
	MCPServers []string `yaml:"mcp_servers" doc:"MCP servers of the chain to use; the others are excluded." ref:"mcp_servers"`
	Runbook    string   `yaml:"runbook" doc:"Runbook text or URL, for alerts without a runbook."`
}

// Deduplicate is alerts.deduplicate.
type Deduplicate struct {
	Window time.Duration `yaml:"window" doc:"How long after the end of its session a repeated alert is only counted. A later one is investigated again and linked to the earlier session. 0 investigates every alert that has no unfinished session." default:"1h" min:"0s"`
	Text   bool          `yaml:"text" doc:"Also deduplicate submitted text without a fingerprint, by its content."`
}

// Storm is alerts.storm.
type Storm struct {
	Threshold int           `yaml:"threshold" doc:"Number of alerts of a group that are investigated individually within the window; more are a storm, which one session investigates. 1 investigates each group once; 0 disables storms." default:"5" min:"0"`
	Window    time.Duration `yaml:"window" doc:"Window of threshold. A storm ends when no alert of the group arrives for this long." default:"10m" min:"1s"`
}

// Resolved is alerts.resolved.
type Resolved struct {
	Conclude       bool          `yaml:"conclude" doc:"Ask the agents of a running session to conclude when its alert is resolved; in a storm, when none of its alerts is firing."`
	FlappingAfter  int           `yaml:"flapping_after" doc:"Number of changes between firing and resolved within flapping_window at which an alert is shown as flapping." default:"4" min:"2"`
	FlappingWindow time.Duration `yaml:"flapping_window" doc:"Window for flapping_after." default:"1h" min:"1s"`
}

// Maintenance is one entry of alerts.maintenance. Either start and end are set, or days with from and to.
type Maintenance struct {
	Name   string   `yaml:"name" doc:"Display name." required:"true"`
	Match  []string `yaml:"match" doc:"Matchers that must all match, as in routes." format:"matcher" required:"true"`
	Reason string   `yaml:"reason" doc:"Reason for the maintenance."`
	Start  string   `yaml:"start" doc:"Start of a one-time window (RFC 3339)."`
	End    string   `yaml:"end" doc:"End of a one-time window (RFC 3339)."`
	Days   []string `yaml:"days" doc:"Days of a weekly window." enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday"`
	From   string   `yaml:"from" doc:"Start of a weekly window, such as 22:00."`
	To     string   `yaml:"to" doc:"End of a weekly window, such as 23:30. If it is before from, it is on the next day."`
	Zone   string   `yaml:"zone" doc:"Time zone of a weekly window, such as Europe/Berlin." default:"UTC"`
}

// The kinds of write-back.
const (
	WriteBackWebhook    = "webhook"
	WriteBackPagerDuty  = "pagerduty"
	WriteBackEmail      = "email"
	WriteBackTeams      = "teams"
	WriteBackMattermost = "mattermost"
)

// WriteBack is one entry of alerts.write_back.
type WriteBack struct {
	Name string `yaml:"-"`

	Type     string            `yaml:"type" doc:"Kind of target: a webhook, a note on the PagerDuty incident that the alert came from, an e-mail, a card in Microsoft Teams (url is a workflow that posts when it receives a webhook request), or a post in Mattermost (url is an incoming webhook)." enum:"webhook,pagerduty,email,teams,mattermost" default:"webhook"`
	URL      Secret            `yaml:"url" doc:"URL to post to, shown as hidden because the path of many webhooks is a secret. For PagerDuty, the base URL of the API; the default is https://api.pagerduty.com." format:"url" secret:"value"`
	On       []string          `yaml:"on" doc:"Events to report: started, finished (completed or cancelled), verdict (completed with a verdict), failed (failed or timed out) and approval (a tool call waits for approval). The default is started, finished and failed." enum:"started,finished,verdict,failed,approval"`
	Teams    []string          `yaml:"teams" doc:"Report only sessions of these teams; an empty name means sessions without a team. The default is all sessions."`
	Match    []string          `yaml:"match" doc:"Report only sessions whose alert matches, as in routes." format:"matcher"`
	Quiet    *QuietHours       `yaml:"quiet_hours" doc:"Hours during which messages are held back."`
	Subject  string            `yaml:"subject" doc:"Template of the e-mail subject." runtime:"*"`
	Body     string            `yaml:"body" doc:"Template of the body (text/template); see docs/write-back.md. The default is JSON with the session and its result; for e-mail and PagerDuty, where the template renders the text of the note, a few lines of text; for Teams and Mattermost, a card or post with the same content, whose text the template replaces." runtime:"*"`
	Headers  map[string]Secret `yaml:"headers" doc:"HTTP headers, such as Authorization." secret:"value"`
	TokenEnv string            `yaml:"token_env" doc:"Environment variable that holds the PagerDuty API token." format:"env" secret:"env"`
	From     string            `yaml:"from" doc:"Sender of the e-mail; for PagerDuty, the e-mail address of a user, which its API requires for notes."`
	To       []string          `yaml:"to" doc:"Recipients of the e-mail, who all get the same message."`
	SMTP     *SMTP             `yaml:"smtp" doc:"Server that sends the e-mail."`
	Timeout  time.Duration     `yaml:"timeout" doc:"Timeout of one attempt." default:"10s" min:"100ms"`
}
