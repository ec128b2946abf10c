package config

import (
	"net/netip"
	"time"

	"tarsy.dev/tarsy/internal/origin"
)

// The values of system.mcp_startup.
const (
	MCPStartupLenient = "lenient"
	MCPStartupStrict  = "strict"
)

// System is the section about the server as a whole.
type System struct {
	DashboardURL     string         `yaml:"dashboard_url" doc:"URL at which users open the dashboard. It is the base of links in responses, reports and the server's output. Its origin counts as the server's own for logins and WebSockets, and its host is accepted without API keys. Set it behind a proxy." format:"public_url" secret:"url" restart:"true"`
	AllowedWSOrigins []string       `yaml:"allowed_ws_origins" doc:"Other origins whose pages can open a WebSocket, such as https://ops.example.com or *.example.com; the server's own origin is always allowed." format:"origin" restart:"true"`
	MCPStartup       string         `yaml:"mcp_startup" doc:"What happens if an MCP server fails its check at startup: TARSy reports a warning (lenient), or stays unready and claims no sessions (strict)." enum:"lenient,strict" default:"lenient" restart:"true"`
	TrustedProxies   []string       `yaml:"trusted_proxies" doc:"Networks (CIDR) or addresses of proxies whose X-Forwarded headers are trusted to name the author of an alert." format:"cidr" restart:"true"`
	Auth             Auth           `yaml:"auth" doc:"Authentication of users without API keys." restart:"true"`
	QueryTimeout     time.Duration  `yaml:"query_timeout" doc:"Timeout of one database query for a list, a search or a page; the request then fails with query_timeout. Queries that run sessions have no such limit." default:"10s" min:"100ms" restart:"true"`
	TLS              TLS            `yaml:"tls" doc:"Certificate of the server; without one, it serves plain HTTP. See docs/install.md." restart:"true"`
	MaxConnections   int            `yaml:"max_connections" doc:"Maximum number of concurrent HTTP connections, including streams. 0 derives the number from the limit on open files (ulimit -n), up to 10,000. One network (an IPv4 address or an IPv6 /64) can have half of them, except trusted_proxies. At either limit, a new connection closes the oldest idle or unauthenticated one; if there is none, only /livez and /readyz respond." min:"0" restart:"true"`
	AdminListen      string         `yaml:"admin_listen" doc:"Loopback address of a second listener for metrics, profiles and the log level, such as 127.0.0.1:9090; it requires no API key. Empty disables it. See docs/operations.md." format:"loopback" restart:"true"`
	Tracing          Tracing        `yaml:"tracing" doc:"Export of OpenTelemetry traces; see docs/opentelemetry.md." restart:"true"`
	Streams          Streams        `yaml:"streams" doc:"Limits on WebSocket connections and event streams; 0 means no limit." restart:"true"`
	Login            Login          `yaml:"login" doc:"Limits on browser logins." restart:"true"`
	GitHub           GitHub         `yaml:"github" doc:"Access to GitHub."`
	Runbooks         Runbooks       `yaml:"runbooks" doc:"Sources of runbooks."`
	Slack            Slack          `yaml:"slack" doc:"Announcements, questions and approvals in Slack; see docs/slack.md." restart:"true"`
	Discord          Discord        `yaml:"discord" doc:"Announcements, questions and alerts in Discord; see docs/discord.md." restart:"true"`
	CostEstimation   CostEstimation `yaml:"cost_estimation" doc:"Cost of LLM calls; see docs/costs.md."`
	Budgets          Budgets        `yaml:"budgets" doc:"Budgets; agents that reach one must conclude."`
	Retention        Retention      `yaml:"retention" doc:"Retention of data." restart:"true"`
	Holidays         []Holiday      `yaml:"holidays" doc:"Days that do not count as working days." later:"true"`
	PromptCaching    PromptCaching  `yaml:"prompt_caching" doc:"Prompt caching at the provider."`
}

// Streams is system.streams.
type Streams struct {
	MaxConnections         int `yaml:"max_connections" doc:"Maximum number of concurrent WebSocket connections and event streams; further ones get 503 overloaded." default:"2000" min:"0"`
	MaxConnectionsPerKey   int `yaml:"max_connections_per_key" doc:"The same limit for one API key and the browsers logged in with it; further ones get 429 too_many_streams." default:"200" min:"0"`
	MaxSubscriptions       int `yaml:"max_subscriptions" doc:"Maximum number of subscriptions of all connections; one connection can have 100." default:"20000" min:"0"`
	MaxSubscriptionsPerKey int `yaml:"max_subscriptions_per_key" doc:"Maximum number of subscriptions of all connections of one API key." default:"2000" min:"0"`
}

// Tracing is system.tracing.
type Tracing struct {
	Endpoint       string  `yaml:"endpoint" doc:"URL of a collector that receives OTLP over HTTP, such as http://localhost:4318; /v1/traces is appended if it is missing. The default is the address in OTEL_EXPORTER_OTLP_ENDPOINT; without either, nothing is exported." format:"url" secret:"url"`
	HeadersEnv     string  `yaml:"headers_env" doc:"Environment variable that holds the headers of exports, such as a token, as comma-separated name=value pairs. The default is OTEL_EXPORTER_OTLP_HEADERS." format:"env" secret:"env"`
	SampleRatio    float64 `yaml:"sample_ratio" doc:"Fraction of sessions to export, from 0 to 1. A session is exported completely or not at all, regardless of which servers run it." default:"1" min:"0" max:"1"`
	CaptureContent bool    `yaml:"capture_content" doc:"Export the inputs and outputs of models and tools, with secrets masked. Without it, traces contain only names, times and numbers."`
}

// UnsetTracingVariables finds the environment variables of system.tracing that are not set.
func (c *Config) UnsetTracingVariables(env func(string) (string, bool)) []Problem {
	name := c.System.Tracing.HeadersEnv
	if value, _ := env(name); name == "" || value != "" {
		return nil
	}
	return []Problem{c.problem("system.tracing.headers_env", "environment variable "+name+" is not set", "traces are exported without headers")}
}

// Login is system.login.
type Login struct {
	AttemptsPerMinute int `yaml:"attempts_per_minute" doc:"Maximum number of login attempts per address, and of logins per API key, per minute; further ones get 429 too_many_requests. 0 means no limit." default:"30" min:"0"`
	MaxSessionsPerKey int `yaml:"max_sessions_per_key" doc:"Maximum number of concurrent browser sessions per API key; a further login ends the oldest one. 0 means no limit." default:"100" min:"0"`
}

// Proxies returns the networks of TrustedProxies.
func (s System) Proxies() []netip.Prefix {
	return parsed(s.TrustedProxies, parseNetwork)
}

// WSOrigins returns the patterns of AllowedWSOrigins.
func (s System) WSOrigins() []origin.Pattern {
	return parsed(s.AllowedWSOrigins, origin.Parse)
}

// parsed parses values that Load has checked with the same function.
func parsed[T any](texts []string, parse func(string) (T, error)) []T {
	all := make([]T, 0, len(texts))
	for _, text := range texts {
		if value, err := parse(text); err == nil {
			all = append(all, value)
		}
	}
	return all
}

// parseNetwork parses a network, or a single address as a network.
func parseNetwork(text string) (netip.Prefix, error) {
	if prefix, err := netip.ParsePrefix(text); err == nil {
		const mapped = 96 // bits before an IPv4 address that is written as IPv6; peers are compared in their short form
		if prefix.Addr().Is4In6() && prefix.Bits() >= mapped {
			prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mapped)
		}
		return prefix.Masked(), nil
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		return netip.Prefix{}, err
	}
	address = address.Unmap().WithZone("")
	return netip.PrefixFrom(address, address.BitLen()), nil
}

// GitHub is system.github.
type GitHub struct {
	TokenEnv string `yaml:"token_env" doc:"Environment variable that holds the token; it is sent to GitHub only." format:"env" secret:"env"`
}

// Runbooks is system.runbooks.
type Runbooks struct {
	RepoURL        string        `yaml:"repo_url" doc:"Repository that lists the runbooks." format:"url" secret:"url" later:"true"`
	CacheTTL       time.Duration `yaml:"cache_ttl" doc:"How long a fetched runbook is cached." min:"0s" default:"1m"`
	AllowedDomains []string      `yaml:"allowed_domains" doc:"Hosts that runbooks can be fetched from; *.example.com matches every subdomain. The default is GitHub." format:"domain"`
}

// CostEstimation is system.cost_estimation.
type CostEstimation struct {
	Enabled    bool                 `yaml:"enabled" doc:"Show the cost of calls." default:"true"`
	ModelRates map[string]ModelRate `yaml:"model_rates" doc:"Prices in USD by model; they override the built-in ones."`
	Promotions []Promotion          `yaml:"promotions" doc:"Prices for a period; the first one that matches is used."`
}

// ModelRate is the price of one model.
type ModelRate struct {
	InputPerMillion       float64  `yaml:"input_per_million" doc:"USD per million input tokens." min:"0"`
	OutputPerMillion      float64  `yaml:"output_per_million" doc:"USD per million output tokens, including thinking." min:"0"`
	CachedInputPerMillion *float64 `yaml:"cached_input_per_million" doc:"USD per million cached input tokens; the default is the price of other input." min:"0"`
}

// Promotion is a price that applies from Start to End.
type Promotion struct {
	ID               string  `yaml:"id" doc:"Name of the promotion." later:"true"`
	Model            string  `yaml:"model" doc:"Model of the promotion." required:"true"`
	Start            string  `yaml:"start" doc:"First day or time (2026-01-31 or RFC 3339), UTC." required:"true"`
	End              string  `yaml:"end" doc:"Last day or time, inclusive." required:"true"`
	InputPerMillion  float64 `yaml:"input_per_million" doc:"USD per million input tokens." min:"0"`
	OutputPerMillion float64 `yaml:"output_per_million" doc:"USD per million output tokens." min:"0"`
}

// Budgets is system.budgets.
type Budgets struct {
	Session SessionBudget `yaml:"session" doc:"Budget of one session, including its questions."`
	Daily   Budget        `yaml:"daily" doc:"Budget of all sessions together per day (UTC)."`
}

// SessionBudget is a Budget with a default, which limits the cost of a runaway session before anyone notices.
type SessionBudget struct {
	MaxTokens    int     `yaml:"max_tokens" doc:"Maximum number of tokens, as the providers count them." min:"0"`
	MaxCostUSD   float64 `yaml:"max_cost_usd" doc:"Maximum cost in USD, for models with a known price; 0 means no limit." min:"0" default:"5"`
	MaxToolCalls int     `yaml:"max_tool_calls" doc:"Maximum number of tool calls." min:"0"`
}

// Budget is a set of caps; 0 means no cap.
type Budget struct {
	MaxTokens    int     `yaml:"max_tokens" doc:"Maximum number of tokens, as the providers count them." min:"0"`
	MaxCostUSD   float64 `yaml:"max_cost_usd" doc:"Maximum cost in USD, for models with a known price." min:"0"`
	MaxToolCalls int     `yaml:"max_tool_calls" doc:"Maximum number of tool calls." min:"0"`
}

// Retention is system.retention.
type Retention struct {
	SessionRetentionDays int           `yaml:"session_retention_days" doc:"Days after which a finished session is deleted; 0 keeps it forever." min:"0" max:"36500" default:"90"`
	PurgeAfterDays       int           `yaml:"purge_after_days" doc:"Days after which a deleted session is purged with all its rows; 0 keeps them." min:"0" max:"36500" default:"30"`
	EventTTL             time.Duration `yaml:"event_ttl" doc:"How long the journal of a finished session is kept for clients to catch up; 0 keeps it forever. The timeline and the trace are kept." min:"0s" default:"24h"`
	CleanupInterval      time.Duration `yaml:"cleanup_interval" doc:"How often old data is removed." min:"1s" default:"1h"`
}

// Holiday is one day of system.holidays.
type Holiday struct {
	Date string `yaml:"date" doc:"Date, such as 2026-01-31."`
	Name string `yaml:"name" doc:"Name of the holiday."`
}

// PromptCaching is system.prompt_caching.
type PromptCaching struct {
	Enabled bool `yaml:"enabled" doc:"Let the provider cache prompts; some need an explicit request." default:"true"`
}
