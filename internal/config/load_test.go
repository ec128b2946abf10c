package config_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

var update = flag.Bool("update", false, "rewrite golden files and docs/configuration.md")

// golden compares text with a file, or rewrites the file with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s is not up to date; run go test ./internal/config -update (-want +got):\n%s", filepath.Base(path), diff)
	}
}

func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, ok := pairs[name]
		return value, ok
	}
}

func fullEnv() func(string) (string, bool) {
	return env(map[string]string{
		"FILES_TOKEN": "files-token-value", "METRICS_HOST": "metrics.internal", "METRICS_TOKEN": "metrics-token-value",
		"GATEWAY_KEY": "gateway-key-value",
	})
}

// load reads one text as tarsy.yaml.
func load(text string, vars map[string]string) (*config.Config, error) {
	return config.Load(config.Source{Files: []config.File{{Name: "tarsy.yaml", Text: []byte(text)}}, Env: env(vars)})
}

func mustLoad(t *testing.T, text string, vars map[string]string) *config.Config {
	t.Helper()
	c, err := load(text, vars)
	require.NoError(t, err)
	return c
}

// problems loads a text that must fail and returns its problems, one per line.
func problems(t *testing.T, text string, vars map[string]string) []string {
	t.Helper()
	_, err := load(text, vars)
	return lines(t, err)
}

func lines(t *testing.T, err error) []string {
	t.Helper()
	var failed *config.Error
	require.ErrorAs(t, err, &failed)
	var out []string
	for _, p := range failed.Problems {
		out = append(out, p.String())
	}
	return out
}

func TestEveryKeyOfPublishedTARSyLoads(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Source{Path: filepath.Join("testdata", "full"), Env: fullEnv()})
	require.NoError(t, err)

	require.Empty(t, c.Warnings)
	golden(t, filepath.Join("testdata", "full.notes"), strings.Join(notes(c), "\n")+"\n")

	require.Equal(t, 3, c.Queue.WorkerCount)
	require.Equal(t, 30*time.Minute, c.Queue.SessionTimeout)
	require.Equal(t, "files-token-value", c.MCPServers["files"].Transport.Environment()["FILES_TOKEN"])
	require.Equal(t, "8080", c.MCPServers["files"].Transport.Environment()["PORT"])
	metrics := c.MCPServers["metrics"].Transport
	require.Equal(t, "https://metrics.internal/mcp", metrics.URL)
	require.Equal(t, "metrics-token-value", metrics.BearerToken.Reveal())
	require.False(t, metrics.VerifySSL)
	require.Equal(t, 45*time.Second, metrics.Timeout)
	require.Equal(t, "{{.SESSION_ID}}", metrics.Headers()["X-Session"], "filled in per call, not at load")
	require.Equal(t, "https://metrics.example.org/sessions/{{.SESSION_ID}}", metrics.SessionCleanupURL)
	require.Equal(t, "Find what fills the disk.\n", c.Agents["DiskAgent"].CustomInstructions)
	require.Equal(t, "GeneralWorker", c.Chains["disk"].SubAgents[0].Name, "short form")
	require.Equal(t, "WebResearcher", c.Chains["disk"].SubAgents[1].Name, "long form")
	require.Equal(t, config.ProviderScripted, c.LLMProviders["told"].Type)
	require.Equal(t, config.APIResponses, c.LLMProviders["fast"].API)
	require.Equal(t, map[string]string{"X-Team": "ops", "X-Gateway-Key": "gateway-key-value"}, c.LLMProviders["fast"].HeaderValues())
	require.Equal(t, config.LLMRetry{
		MaxAttempts: 4, FirstWait: 250 * time.Millisecond, MaxWait: 4 * time.Second, MaxRetryAfter: 30 * time.Second,
	}, c.Defaults.LLMRetry)
	require.Equal(t, config.Budgets{
		Session: config.SessionBudget{MaxTokens: 500_000, MaxCostUSD: 2.5, MaxToolCalls: 100},
		Daily:   config.Budget{MaxTokens: 20_000_000, MaxCostUSD: 50, MaxToolCalls: 5000},
	}, c.System.Budgets)
}

func TestEmptyConfigurationGivesBuiltIns(t *testing.T) {
	t.Parallel()
	c, err := config.Load(config.Source{})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)

	want := config.Queue{
		WorkerCount: 5, MaxConcurrentSessions: 5, MaxWaitingSessions: 10_000, PollInterval: time.Second, PollIntervalJitter: 500 * time.Millisecond, SeverityAgeing: 15 * time.Minute,
		SessionTimeout: 40 * time.Minute, GracefulShutdownTimeout: 15 * time.Second,
		OrphanThreshold: 20 * time.Second, HeartbeatInterval: 5 * time.Second, UnrunnableTimeout: 5 * time.Minute,
	}
	require.Equal(t, want, c.Queue)
	require.Equal(t, 10*time.Second, c.System.QueryTimeout)
	require.Equal(t, config.MCPStartupLenient, c.System.MCPStartup)
	require.Equal(t, 20, c.Defaults.MaxIterations)
	require.Equal(t, 120*time.Second, c.Defaults.IterationTimeout)
	require.Equal(t, config.SuccessAny, c.Defaults.SuccessPolicy)
	require.Equal(t, config.LLMRetry{
		MaxAttempts: 3, FirstWait: 500 * time.Millisecond, MaxWait: 8 * time.Second, MaxRetryAfter: time.Minute,
	}, c.Defaults.LLMRetry)
	require.True(t, c.System.PromptCaching.Enabled)
	require.True(t, c.System.CostEstimation.Enabled)
	require.Equal(t, config.Budgets{Session: config.SessionBudget{MaxCostUSD: 5}}, c.System.Budgets)
	require.Equal(t, config.AlertMasking{Enabled: true, PatternGroup: "security"}, c.Defaults.AlertMasking)
	require.Equal(t, config.Retention{SessionRetentionDays: 90, PurgeAfterDays: 30, EventTTL: 24 * time.Hour, CleanupInterval: time.Hour}, c.System.Retention)
	for _, name := range []string{
		"KubernetesAgent", "ChatAgent", "ExecSummaryAgent", "SynthesisAgent", "ScoringAgent", "WebResearcher",
		"CodeExecutor", "GeneralWorker", "ComposeAgent",
	} {
		require.NotEmpty(t, c.Agents[name].Description, name)
		require.NotEmpty(t, c.Agents[name].CustomInstructions, name)
		require.Equal(t, name, c.Agents[name].Name)
	}
	require.Equal(t, []config.AlertType{
		{Name: "kubernetes", ChainID: "kubernetes", Description: c.Chains["kubernetes"].Description},
	}, c.AlertTypes())
	require.Equal(t, "kubernetes", c.Defaults.AlertType)
	require.Contains(t, c.MCPServers["kubernetes-server"].Transport.Args, "--read-only")
	require.True(t, c.MCPServers["kubernetes-server"].Transport.VerifySSL)
}

func TestResultSummariesDefaultTo5000And1000Tokens(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, "mcp_servers: {s: {transport: {type: stdio, command: x}, summarization: {enabled: true}}}", nil)
	require.Equal(t, &config.Summarization{Enabled: true, SizeThresholdTokens: 5000, SummaryMaxTokenLimit: 1000}, c.MCPServers["s"].Summarization)
}

func TestUserEntryReplacesWholeBuiltIn(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
agents:
  KubernetesAgent: {description: ours}
mcp_servers:
  kubernetes-server: {transport: {type: http, url: http://localhost:9000/mcp}}
`, nil)
	require.Equal(t, config.Agent{Name: "KubernetesAgent", Description: "ours"}, c.Agents["KubernetesAgent"])
	require.Empty(t, c.MCPServers["kubernetes-server"].Transport.Command)
	require.Empty(t, c.MCPServers["kubernetes-server"].Instructions)
	require.True(t, c.MCPServers["kubernetes-server"].Transport.VerifySSL, "defaults of keys still hold")
}

func TestUserChainTakesAlertTypeFromBuiltInChain(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
agent_chains:
  mine: {alert_types: [kubernetes], stages: [{name: one, agents: [{name: GeneralWorker}]}]}
`, nil)
	chain, ok := c.ChainFor("kubernetes")
	require.True(t, ok)
	require.Equal(t, "mine", chain.ID)
	require.NotContains(t, c.Chains, "kubernetes")

	c = mustLoad(t, `
agent_chains:
  kubernetes: {alert_types: [pods], stages: [{name: one, agents: [{name: GeneralWorker}]}]}
`, nil)
	require.Empty(t, c.Defaults.AlertType, "no chain takes the usual default any more")
	_, ok = c.ChainFor("kubernetes")
	require.False(t, ok)
}

func TestDirectoryFilesMergeBySection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.yaml", "queue: {worker_count: 2}\nagents: {One: {description: a}}\n")
	write(t, dir, "b.yml", "queue: {session_timeout: 5m}\nagents: {Two: {description: b}}\n")
	write(t, dir, "c.yaml", "# nothing but a comment\n")
	write(t, dir, ".hidden.yaml", "not: read\n")
	write(t, dir, "tarsy.yaml.example", "not: read\n")
	c, err := config.Load(config.Source{Path: dir})
	require.NoError(t, err)
	require.Equal(t, 2, c.Queue.WorkerCount)
	require.Equal(t, 5*time.Minute, c.Queue.SessionTimeout)
	require.Contains(t, c.Agents, "One")
	require.Contains(t, c.Agents, "Two")

	c, err = config.Load(config.Source{Path: filepath.Join(dir, "b.yml")})
	require.NoError(t, err)
	require.Equal(t, 5, c.Queue.WorkerCount, "one file only")
}

func TestSameValueInTwoFilesIsRefusedWithBothPlaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "a.yaml", "queue: {worker_count: 2}\nagents:\n  One: {description: a}\n")
	write(t, dir, "b.yaml", "queue:\n  worker_count: 3\nagents:\n\n  One: {max_iterations: 3}\n")
	_, err := config.Load(config.Source{Path: dir})
	require.Equal(t, []string{
		"b.yaml:2: queue.worker_count: set a second time (first set at a.yaml:1)",
		"b.yaml:5: agents.One: set a second time (first set at a.yaml:3)",
	}, lines(t, err))
}

func TestMissingPathIsError(t *testing.T) {
	t.Parallel()
	_, err := config.Load(config.Source{Path: filepath.Join(t.TempDir(), "nowhere")})
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestExampleFilesLoadWithoutWarning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"tarsy.yaml", "llm-providers.yaml"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "deploy", "config", name+".example"))
		require.NoError(t, err)
		write(t, dir, name, string(text))
	}
	c, err := config.Load(config.Source{Path: dir})
	require.NoError(t, err)
	require.Empty(t, c.Warnings)
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
}

func TestAlertTypesAreSortedAndNameTheirChain(t *testing.T) {
	t.Parallel()
	c := mustLoad(t, `
agent_chains:
  z: {alert_types: [beta, alpha], description: Last., stages: [{name: s, agents: [{name: ChatAgent}]}]}
`, nil)
	types := c.AlertTypes()
	require.Equal(t, config.AlertType{Name: "alpha", ChainID: "z", Description: "Last."}, types[0])
	require.Equal(t, "beta", types[1].Name)
	require.Equal(t, "kubernetes", types[2].Name)
	chain, ok := c.ChainFor("beta")
	require.True(t, ok)
	require.Equal(t, "z", chain.ID)
	_, ok = c.ChainFor("gamma")
	require.False(t, ok)
}
