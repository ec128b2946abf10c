package config

import (
	"maps"
	"slices"
	"time"
)

// The ways to reach an MCP server.
const (
	TransportStdio = "stdio"
	TransportHTTP  = "http"
	TransportSSE   = "sse"
)

// MCPServer is one entry of mcp_servers.
type MCPServer struct {
	ID string `yaml:"-"`

	Transport     Transport      `yaml:"transport" doc:"How to connect to the server." required:"true"`
	Instructions  string         `yaml:"instructions" doc:"Instructions for agents on how to use these tools, in plain text." reload:"sessions"`
	AllowedTools  []string       `yaml:"allowed_tools" doc:"Tools that agents can use; all by default. A name can end in *." reload:"sessions"`
	DeniedTools   []string       `yaml:"denied_tools" doc:"Tools that no agent can use, in the same form. Takes precedence over allowed_tools." reload:"sessions"`
	ReadOnly      bool           `yaml:"read_only" doc:"Offer only tools that the server marks as read-only (readOnlyHint)." reload:"sessions"`
	WritingTools  []string       `yaml:"writing_tools" doc:"Tools that change something, in the same form. Each call waits for approval, unless a rule of approvals sets another policy." reload:"sessions"`
	DataMasking   *DataMasking   `yaml:"data_masking" doc:"Masking of secrets in this server's results. The groups kubernetes, security and gitleaks are on by default; this section adds to them."`
	Summarization *Summarization `yaml:"summarization" doc:"Summarization of this server's long results by a model." reload:"sessions"`
}

// Transport is mcp_servers.<id>.transport.
type Transport struct {
	Type              string            `yaml:"type" doc:"stdio starts a program; http and sse connect to a URL." enum:"stdio,http,sse" required:"true"`
	Command           string            `yaml:"command" doc:"Program to start (stdio)." only:"stdio"`
	Args              []string          `yaml:"args" doc:"Arguments of the program (stdio)." secret:"args" only:"stdio"`
	User              string            `yaml:"user" doc:"User that the program runs as (stdio): user or user:group, names or numbers; the default is TARSy's own user. TARSy must be root, or have CAP_SETUID, CAP_SETGID and CAP_KILL." only:"stdio"`
	Env               map[string]Secret `yaml:"env" doc:"Environment variables in addition to PATH, HOME, the locale, the time zone and the proxy settings (stdio)." secret:"value" only:"stdio"`
	InheritEnv        bool              `yaml:"inherit_env" doc:"Pass TARSy's whole environment, including all secrets (stdio)." only:"stdio"`
	URL               string            `yaml:"url" doc:"URL (http, sse)." format:"url" secret:"url" only:"http"`
	BearerToken       Secret            `yaml:"bearer_token" doc:"Token sent as Authorization: Bearer (http, sse)." secret:"value" only:"http"`
	VerifySSL         bool              `yaml:"verify_ssl" doc:"Check the server's certificate (http, sse)." default:"true" only:"http"`
	Timeout           time.Duration     `yaml:"timeout" doc:"Timeout of one request; a plain number means seconds." min:"0s" seconds:"true"`
	CustomHeaders     map[string]Secret `yaml:"custom_headers" doc:"Headers sent with each request (http, sse); {{.SESSION_ID}} is the execution's id." secret:"value" runtime:"SESSION_ID" only:"http"`
	SessionCleanupURL string            `yaml:"session_cleanup_url" doc:"URL that gets a DELETE request when an execution ends (http, sse); {{.SESSION_ID}} is the execution's id." secret:"url" runtime:"SESSION_ID" only:"http"`
}

// DataMasking is mcp_servers.<id>.data_masking.
type DataMasking struct {
	Enabled        bool            `yaml:"enabled" doc:"Mask secrets. With false, only the values of configured secrets are masked." default:"true"`
	PatternGroups  []string        `yaml:"pattern_groups" doc:"Pattern groups in addition to kubernetes, security and gitleaks." enum:"@pattern_group"`
	DisabledGroups []string        `yaml:"disabled_groups" doc:"Default groups to turn off. A pattern that another group contains stays on." enum:"@default_pattern_group"`
	Patterns       []string        `yaml:"patterns" doc:"Individual patterns in addition to the groups." enum:"@pattern"`
	CustomPatterns []CustomPattern `yaml:"custom_patterns" doc:"Custom patterns."`
}

// CustomPattern is one pattern of data_masking.custom_patterns.
type CustomPattern struct {
	Pattern     string `yaml:"pattern" doc:"Regular expression (RE2)." required:"true" format:"mask_pattern"`
	Replacement string `yaml:"replacement" doc:"Replacement." required:"true"`
	Description string `yaml:"description" doc:"What the pattern finds." later:"true"`
}

// Summarization is mcp_servers.<id>.summarization.
type Summarization struct {
	Enabled              bool   `yaml:"enabled" doc:"Summarize long results." default:"true"`
	SizeThresholdTokens  int    `yaml:"size_threshold_tokens" doc:"Results longer than this are summarized." default:"5000" min:"100"`
	SummaryMaxTokenLimit int    `yaml:"summary_max_token_limit" doc:"Requested length of a summary. A summary that is more than twice as long is truncated." default:"1000" min:"50"`
	LLMProvider          string `yaml:"llm_provider" doc:"Model that summarizes." ref:"llm_providers"`
	LLMBackend           string `yaml:"llm_backend" doc:"Backend to request from the gateway (type grpc)." enum:"@backend" only:"grpc"`
}

// CheckUsers calls check for every user that a program runs as, which depends on the machine, and returns all problems. Files that are
// valid elsewhere can have problems here.
func (c *Config) CheckUsers(check func(user string) error) error {
	var problems []Problem
	for _, id := range slices.Sorted(maps.Keys(c.MCPServers)) {
		transport := c.MCPServers[id].Transport
		if transport.Type != TransportStdio || transport.User == "" {
			continue
		}
		if err := check(transport.User); err != nil {
			problems = append(problems, c.problem(joinPath("mcp_servers", id)+".transport.user", err.Error(), ""))
		}
	}
	if len(problems) > 0 {
		return newError(problems)
	}
	return nil
}

// Environment returns Env with its values in plain text, for starting the program.
func (t Transport) Environment() map[string]string { return reveal(t.Env) }

// Headers returns CustomHeaders with their values in plain text.
func (t Transport) Headers() map[string]string { return reveal(t.CustomHeaders) }

func reveal(secrets map[string]Secret) map[string]string {
	plain := make(map[string]string, len(secrets))
	for name, value := range secrets {
		plain[name] = value.Reveal()
	}
	return plain
}
