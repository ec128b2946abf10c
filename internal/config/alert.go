package config

import "time"

// Alerts is the section about incoming alerts: who sends them, how they are routed, and which are not investigated.
type Alerts struct {
	Receivers   map[string]Receiver  `yaml:"receivers" doc:"Webhooks by name, at /api/v1/webhooks/<source>/<name>. The receivers alertmanager/default and grafana/default always exist and need an API key with the scope write."`
	Fields      AlertFields          `yaml:"fields" doc:"Labels and annotations that facts are read from, instead of the well-known ones; the first that is present is used."`
	Routes      []AlertRoute         `yaml:"routes" doc:"Where alerts go; the first route that matches is used. Alerts that name an alert type themselves are routed too."`
	GroupBy     []string             `yaml:"group_by" doc:"Labels that make a group; the default is alertname, cluster and namespace."`
	Deduplicate Deduplicate          `yaml:"deduplicate" doc:"When an alert counts as a repetition."`
	Storm       Storm                `yaml:"storm" doc:"When alerts of a group are investigated together."`
	Resolved    Resolved             `yaml:"resolved" doc:"What happens when a sender reports that an alert is over."`
	Maintenance []Maintenance        `yaml:"maintenance" doc:"Times in which matching alerts are not investigated. They are listed as suppressed."`
	WriteBack   map[string]WriteBack `yaml:"write_back" doc:"Outgoing webhooks, chat messages, e-mail and notes by name, for what becomes of alerts." restart:"true"`
}

// Receiver is one entry of alerts.receivers.
type Receiver struct {
	Name string `yaml:"-"`

	Source    string            `yaml:"source" doc:"Who sends to it." enum:"@webhook_source" required:"true"`
	TokenEnv  string            `yaml:"token_env" doc:"Environment variable with a token that the sender puts into the header Authorization (Bearer). Without it, and without secret_env, an API key with the scope write is needed." format:"env" secret:"env"`
	SecretEnv string            `yaml:"secret_env" doc:"Environment variable with the secret of the sender's signature (HMAC-SHA256). Required for PagerDuty unless token_env is set." format:"env" secret:"env"`
	Topics    []string          `yaml:"topics" doc:"ARNs of topics of Amazon SNS, for the source cloudwatch: their messages are accepted with the signature of Amazon SNS, without an API key."`
	AlertType string            `yaml:"alert_type" doc:"Type of its alerts, unless a route decides; by default the label alertname if it is an alert type, else the default type." ref:"alert_types"`
	Labels    map[string]string `yaml:"labels" doc:"Labels that are added to every alert, such as the cluster; labels of the alert win."`
	Mapping   Mapping           `yaml:"mapping" doc:"Where a generic body has its facts."`
}

// Mapping is alerts.receivers.<name>.mapping: paths such as incident.labels.app or items.0.title, or templates such as {{.incident.title}}.
type Mapping struct {
	Alerts      string            `yaml:"alerts" doc:"Path of the list of alerts in a body with several; by default the body is one alert." format:"path" runtime:"*"`
	Title       string            `yaml:"title" doc:"Title." format:"mapping" runtime:"*"`
	Severity    string            `yaml:"severity" doc:"Severity." format:"mapping" runtime:"*"`
	Service     string            `yaml:"service" doc:"Service." format:"mapping" runtime:"*"`
	Namespace   string            `yaml:"namespace" doc:"Namespace." format:"mapping" runtime:"*"`
	Cluster     string            `yaml:"cluster" doc:"Cluster." format:"mapping" runtime:"*"`
	Team        string            `yaml:"team" doc:"Team." format:"mapping" runtime:"*"`
	Fingerprint string            `yaml:"fingerprint" doc:"What identifies the alert; by default a field that docs/alerts.md lists, such as fingerprint, dedup_key or alert.alias, else title and labels." format:"mapping" runtime:"*"`
	Status      string            `yaml:"status" doc:"Whether the alert fires." format:"mapping" runtime:"*"`
	Resolved    []string          `yaml:"resolved" doc:"Values of status that mean that the alert is over; the default is resolved, ok, closed, recovered, normal, up and the others that docs/alerts.md lists."`
	StartsAt    string            `yaml:"starts_at" doc:"When the problem began: RFC 3339, or Unix time in seconds or milliseconds." format:"mapping" runtime:"*"`
	Labels      string            `yaml:"labels" doc:"Path of an object with labels." format:"path" runtime:"*"`
	Links       map[string]string `yaml:"links" doc:"Links by kind: generator, dashboard, panel, runbook, silence or incident." format:"mapping" runtime:"*"`
	Runbook     string            `yaml:"runbook" doc:"URL of the runbook." format:"mapping" runtime:"*"`
}

// AlertFields is alerts.fields.
type AlertFields struct {
	Title     []string `yaml:"title" doc:"Title; the default is summary and title, then the places that docs/alerts.md lists."`
	Severity  []string `yaml:"severity" doc:"Severity; the default is severity, priority, level and alert_priority."`
	Service   []string `yaml:"service" doc:"Service; the default is service, app, app_kubernetes_io_name, deployment, job and component."`
	Namespace []string `yaml:"namespace" doc:"Namespace; the default is namespace, kubernetes_namespace and exported_namespace."`
	Cluster   []string `yaml:"cluster" doc:"Cluster; the default is cluster, cluster_name, k8s_cluster and environment."`
	Team      []string `yaml:"team" doc:"Team; the default is team, owner and squad."`
}

// AlertRoute is one entry of alerts.routes. Its empty fields leave the alert unchanged.
type AlertRoute struct {
	Name       string   `yaml:"name" doc:"Name for people, in explanations."`
	Match      []string `yaml:"match" doc:"Matchers that must all hold, such as namespace=\"payments\", severity!=\"info\" or alertname=~\"Disk.*\", on labels and on source, receiver, alert_type, title, severity, service, namespace, cluster and team. None matches every alert." format:"matcher"`
	AlertType  string   `yaml:"alert_type" doc:"Alert type that the alert gets." ref:"alert_types"`
	Chain      string   `yaml:"chain" doc:"Chain that investigates it, whatever its type." ref:"agent_chains"`
	Severity   string   `yaml:"severity" doc:"Severity that it gets." enum:"critical,high,warning,info"`
	Team       string   `yaml:"team" doc:"Team that it gets."`
	MCPServers []string `yaml:"mcp_servers" doc:"MCP servers of the chain that are used; the others are left out." ref:"mcp_servers"`
	Runbook    string   `yaml:"runbook" doc:"Text of the runbook, or its URL, if the alert has none."`
}

// Deduplicate is alerts.deduplicate.
type Deduplicate struct {
	Window time.Duration `yaml:"window" doc:"How long after the end of its session a repeated alert is only counted; a later one is investigated again and linked to the earlier session. 0 investigates every alert that has no unfinished session." default:"1h" min:"0s"`
	Text   bool          `yaml:"text" doc:"Deduplicate text that is submitted without a fingerprint too, by its content."`
}

// Storm is alerts.storm.
type Storm struct {
	Threshold int           `yaml:"threshold" doc:"Alerts of one group that are investigated by themselves within the window; with more, one session investigates them together. 1 investigates each group once, 0 switches this off." default:"5" min:"0"`
	Window    time.Duration `yaml:"window" doc:"The window; a storm is over when no alert of the group came for this long." default:"10m" min:"1s"`
}

// Resolved is alerts.resolved.
type Resolved struct {
	Conclude       bool          `yaml:"conclude" doc:"Ask the agents of a running session to conclude when its alert is resolved; in a storm, when none of its alerts fires any more."`
	FlappingAfter  int           `yaml:"flapping_after" doc:"Changes between firing and resolved within flapping_window from which an alert is shown as flapping." default:"4" min:"2"`
	FlappingWindow time.Duration `yaml:"flapping_window" doc:"Window for flapping_after." default:"1h" min:"1s"`
}

// Maintenance is one entry of alerts.maintenance. Either start and end are set, or days with from and to.
type Maintenance struct {
	Name   string   `yaml:"name" doc:"Name for people." required:"true"`
	Match  []string `yaml:"match" doc:"Matchers that must all hold, as in routes." format:"matcher" required:"true"`
	Reason string   `yaml:"reason" doc:"Why."`
	Start  string   `yaml:"start" doc:"Begin of a single window, RFC 3339."`
	End    string   `yaml:"end" doc:"End of a single window, RFC 3339."`
	Days   []string `yaml:"days" doc:"Days of a weekly window." enum:"monday,tuesday,wednesday,thursday,friday,saturday,sunday"`
	From   string   `yaml:"from" doc:"Begin of a weekly window, as 22:00."`
	To     string   `yaml:"to" doc:"End of a weekly window, as 23:30; before from, it is on the next day."`
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

	Type     string            `yaml:"type" doc:"A webhook, a note on the PagerDuty incident that the alert came from, an e-mail, a card in Microsoft Teams (the URL of a workflow that posts when a webhook request is received), or a post in Mattermost (the URL of an incoming webhook)." enum:"webhook,pagerduty,email,teams,mattermost" default:"webhook"`
	URL      Secret            `yaml:"url" doc:"Where to post; hidden, because the path of many webhooks is a secret. For PagerDuty the base URL of the API, https://api.pagerduty.com by default." format:"url" secret:"value"`
	On       []string          `yaml:"on" doc:"When: started, finished (completed or cancelled), verdict (completed with a verdict), failed (failed or timed out) and approval (a tool call waits for a person). The default is started, finished and failed." enum:"started,finished,verdict,failed,approval"`
	Teams    []string          `yaml:"teams" doc:"Only for sessions of these teams; an empty name means sessions without a team. The default is all sessions."`
	Match    []string          `yaml:"match" doc:"Only for sessions whose alert matches, as in routes." format:"matcher"`
	Quiet    *QuietHours       `yaml:"quiet_hours" doc:"Hours in which messages wait."`
	Subject  string            `yaml:"subject" doc:"Template of the subject of an e-mail." runtime:"*"`
	Body     string            `yaml:"body" doc:"Template of the body (text/template); see docs/write-back.md. The default is JSON with the session and its result; for PagerDuty, whose template makes the text of the note, and for e-mail, a few lines of text; for Teams and Mattermost a card and a post with the same, whose text the template replaces." runtime:"*"`
	Headers  map[string]Secret `yaml:"headers" doc:"Headers, such as Authorization." secret:"value"`
	TokenEnv string            `yaml:"token_env" doc:"Environment variable with the API token of PagerDuty." format:"env" secret:"env"`
	From     string            `yaml:"from" doc:"Sender of e-mail; for PagerDuty the e-mail address of a user, which its API requires for notes."`
	To       []string          `yaml:"to" doc:"Recipients of e-mail. They get one message together."`
	SMTP     *SMTP             `yaml:"smtp" doc:"Server that takes e-mail."`
	Timeout  time.Duration     `yaml:"timeout" doc:"Longest time for one attempt." default:"10s" min:"100ms"`
}
