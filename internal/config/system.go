package config

import (
	"net/netip"
	"time"

	"tarsy.dev/tarsy/internal/origin"
)

// What system.mcp_startup may say.
const (
	MCPStartupLenient = "lenient"
	MCPStartupStrict  = "strict"
)

// System is the section about the server as a whole.
type System struct {
	DashboardURL     string         `yaml:"dashboard_url" doc:"Address at which people open the dashboard. Links in answers, reports and the server's output begin with it; its origin is the server's own for logins and WebSockets, and its host is accepted without API keys. Set it behind a proxy." format:"public_url" secret:"url"`
	AllowedWSOrigins []string       `yaml:"allowed_ws_origins" doc:"Further origins whose pages may open a WebSocket, such as https://ops.example.com or *.example.com; the server's own is always allowed." format:"origin"`
	MCPStartup       string         `yaml:"mcp_startup" doc:"What an MCP server that fails its check at start means: a warning (lenient), or the server stays unready and claims no sessions (strict)." enum:"lenient,strict" default:"lenient"`
	TrustedProxies   []string       `yaml:"trusted_proxies" doc:"Networks (CIDR) or single addresses of proxies whose X-Forwarded headers name the author of an alert." format:"cidr"`
	QueryTimeout     time.Duration  `yaml:"query_timeout" doc:"Longest time that one database query of a list, a search or a page may take; beyond it the request ends with query_timeout. Work on sessions has no such limit." default:"10s" min:"100ms"`
	MaxConnections   int            `yaml:"max_connections" doc:"Connections that the HTTP server holds at once, streams included. 0 derives it from the limit on open files (ulimit -n), up to 10,000. When it is reached only /livez and /readyz are answered." min:"0"`
	Streams          Streams        `yaml:"streams" doc:"Limits on WebSocket connections and event streams; 0 means no limit."`
	Login            Login          `yaml:"login" doc:"Limits on browsers that log in."`
	GitHub           GitHub         `yaml:"github" doc:"Access to GitHub."`
	Runbooks         Runbooks       `yaml:"runbooks" doc:"Where runbooks come from."`
	Slack            *Slack         `yaml:"slack" doc:"Notifications to Slack." later:"true"`
	CostEstimation   CostEstimation `yaml:"cost_estimation" doc:"What LLM calls cost; docs/costs.md tells how it is found out."`
	Budgets          Budgets        `yaml:"budgets" doc:"Caps; agents that reach one are asked to conclude."`
	Retention        Retention      `yaml:"retention" doc:"How long data is kept."`
	Holidays         []Holiday      `yaml:"holidays" doc:"Days that do not count as working days." later:"true"`
	PromptCaching    PromptCaching  `yaml:"prompt_caching" doc:"Caching of prompts at the provider."`
}

// Streams is system.streams.
type Streams struct {
	MaxConnections         int `yaml:"max_connections" doc:"WebSocket connections and event streams at once; beyond it they are refused with 503 overloaded." default:"2000" min:"0"`
	MaxConnectionsPerKey   int `yaml:"max_connections_per_key" doc:"The same for one API key and the browsers logged in with it; beyond it they are refused with 429 too_many_streams." default:"200" min:"0"`
	MaxSubscriptions       int `yaml:"max_subscriptions" doc:"Channels that all connections together follow; a connection may follow 100." default:"20000" min:"0"`
	MaxSubscriptionsPerKey int `yaml:"max_subscriptions_per_key" doc:"Channels that the connections of one API key follow together." default:"2000" min:"0"`
}

// Login is system.login.
type Login struct {
	AttemptsPerMinute int `yaml:"attempts_per_minute" doc:"Attempts to log in from one address, and logins with one API key; beyond it they are refused with 429 too_many_requests. 0 means no limit." default:"30" min:"0"`
	MaxSessionsPerKey int `yaml:"max_sessions_per_key" doc:"Browsers logged in with one API key at once; a further login logs out the one that logged in first. 0 means no limit." default:"100" min:"0"`
}

// Proxies are the networks of TrustedProxies.
func (s System) Proxies() []netip.Prefix {
	return parsed(s.TrustedProxies, parseNetwork)
}

// WSOrigins are the patterns of AllowedWSOrigins.
func (s System) WSOrigins() []origin.Pattern {
	return parsed(s.AllowedWSOrigins, origin.Parse)
}

// parsed reads values that Load has checked with the same function.
func parsed[T any](texts []string, parse func(string) (T, error)) []T {
	all := make([]T, 0, len(texts))
	for _, text := range texts {
		if value, err := parse(text); err == nil {
			all = append(all, value)
		}
	}
	return all
}

// parseNetwork reads a network, or one address as a network of its own.
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
	CacheTTL       time.Duration `yaml:"cache_ttl" doc:"How long a fetched runbook is reused." min:"0s" default:"1m"`
	AllowedDomains []string      `yaml:"allowed_domains" doc:"Hosts that runbooks may be fetched from; *.example.com means every host below it. Without any, GitHub's." format:"domain"`
}

// Slack is system.slack.
type Slack struct {
	Enabled  bool   `yaml:"enabled" doc:"Send notifications."`
	TokenEnv string `yaml:"token_env" doc:"Environment variable that holds the bot token." format:"env" secret:"env"`
	Channel  string `yaml:"channel" doc:"Channel id to post in."`
}

// CostEstimation is system.cost_estimation.
type CostEstimation struct {
	Enabled    bool                 `yaml:"enabled" doc:"Show what calls cost." default:"true"`
	ModelRates map[string]ModelRate `yaml:"model_rates" doc:"Prices in USD by model; they beat the bundled ones."`
	Promotions []Promotion          `yaml:"promotions" doc:"Prices that hold for a time; the first that fits holds."`
}

// ModelRate is the price of one model.
type ModelRate struct {
	InputPerMillion       float64  `yaml:"input_per_million" doc:"USD for a million input tokens." min:"0"`
	OutputPerMillion      float64  `yaml:"output_per_million" doc:"USD for a million output tokens, thinking included." min:"0"`
	CachedInputPerMillion *float64 `yaml:"cached_input_per_million" doc:"USD for a million input tokens that the provider had cached; as other input if unset." min:"0"`
}

// Promotion is a price that holds from Start to End.
type Promotion struct {
	ID               string  `yaml:"id" doc:"Name of the promotion." later:"true"`
	Model            string  `yaml:"model" doc:"Model that it is for." required:"true"`
	Start            string  `yaml:"start" doc:"First day or moment (2026-01-31 or RFC 3339), UTC." required:"true"`
	End              string  `yaml:"end" doc:"Last day or moment, included." required:"true"`
	InputPerMillion  float64 `yaml:"input_per_million" doc:"USD for a million input tokens." min:"0"`
	OutputPerMillion float64 `yaml:"output_per_million" doc:"USD for a million output tokens." min:"0"`
}

// Budgets is system.budgets.
type Budgets struct {
	Session Budget `yaml:"session" doc:"Caps for one session, its questions included."`
	Daily   Budget `yaml:"daily" doc:"Caps for all sessions together, for a day (UTC)."`
}

// Budget is a set of caps; 0 caps nothing.
type Budget struct {
	MaxTokens    int     `yaml:"max_tokens" doc:"Tokens, as the providers count them." min:"0"`
	MaxCostUSD   float64 `yaml:"max_cost_usd" doc:"USD, as far as prices are known." min:"0"`
	MaxToolCalls int     `yaml:"max_tool_calls" doc:"Tool calls." min:"0"`
}

// Retention is system.retention.
type Retention struct {
	SessionRetentionDays int           `yaml:"session_retention_days" doc:"Days after which a finished session is no longer shown; 0 keeps it for ever." min:"0" max:"36500" default:"90"`
	PurgeAfterDays       int           `yaml:"purge_after_days" doc:"Days after its deletion when all rows of a session are removed for good; 0 keeps them." min:"0" max:"36500" default:"30"`
	EventTTL             time.Duration `yaml:"event_ttl" doc:"How long the journal of a finished session is kept for readers to catch up; 0 keeps it for ever. The timeline and the trace stay." min:"0s" default:"24h"`
	CleanupInterval      time.Duration `yaml:"cleanup_interval" doc:"How often old data is looked for." min:"1s" default:"1h"`
}

// Holiday is one day of system.holidays.
type Holiday struct {
	Date string `yaml:"date" doc:"The day, as 2026-01-31."`
	Name string `yaml:"name" doc:"What the day is called."`
}

// PromptCaching is system.prompt_caching.
type PromptCaching struct {
	Enabled bool `yaml:"enabled" doc:"Let the provider cache prompts; some want to be asked." default:"true"`
}
