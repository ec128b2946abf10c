package app

import (
	"cmp"
	"context"
	"maps"
	"reflect"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/inbox"
	"tarsy.dev/tarsy/internal/mask"
	"tarsy.dev/tarsy/internal/mcp"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/price"
	"tarsy.dev/tarsy/internal/runbook"
	"tarsy.dev/tarsy/internal/triage"
	"tarsy.dev/tarsy/llm"
)

// settings is everything that is derived from the configuration and that a reload replaces. It is immutable, so code that takes
// it from App.current uses one configuration throughout. Configuration that is read elsewhere in this package has the tag
// restart; a test checks that.
type settings struct {
	config *config.Config
	// effective is config plus the MCP servers and LLM providers that only earlier configurations have: sessions that
	// began with them may still be running.
	effective *config.Config
	// secrets are the secrets of all configurations since the start: replaced ones can still appear in texts.
	secrets []string

	chains *chain.Catalog
	// prices are the prices of config. They are kept because deriving them takes longer than a session does.
	prices   *price.Table
	masker   *mask.Masker
	tools    *mcp.Factory
	runbooks *runbook.Fetcher
	fetch    runbook.Config
	intake   *engine.Intake
	desk     *triage.Desk
	inbox    *inbox.Inbox
	engine   engine.Settings
}

// providerName returns the name of an LLM provider in the OpenTelemetry conventions.
func (s *settings) providerName(name string) string {
	kind := s.effective.LLMProviders[name].Kind()

	return cmp.Or(kind.Convention, kind.Type)
}

func (s *settings) serverTransport(name string) string {
	return s.effective.MCPServers[name].Transport.Type
}

// serverURL returns the address of an MCP server; empty for a program.
func (s *settings) serverURL(name string) string { return s.effective.MCPServers[name].Transport.URL }

// providerURL returns the API address of an LLM provider; empty if only its SDK knows it.
func (s *settings) providerURL(name string) string {
	provider := s.effective.LLMProviders[name]

	return cmp.Or(provider.BaseURL, provider.Kind().URL)
}

// current returns the current settings.
func (a *App) current() *settings { return a.settings.Load() }

// newSettings derives the settings of a configuration. before are the settings that they replace; nil at the start.
// It changes nothing else.
func (a *App) newSettings(cfg *config.Config, before *settings) (*settings, error) {
	s := &settings{config: cfg, effective: cfg, chains: chain.NewCatalog(cfg), prices: cfg.Prices()}

	var previous *mask.Masker

	if before != nil {
		s.effective, previous = withEarlier(cfg, before.effective), before.masker
		s.secrets = before.secrets
	}

	options := a.options
	options.Config = s.effective
	s.secrets = slices.Compact(slices.Sorted(slices.Values(slices.Concat(s.secrets, options.secrets()))))

	var err error

	if s.masker, err = options.newMasker(s.secrets, previous); err != nil {
		return nil, err
	}

	s.tools = a.mcpFactory(options)
	s.fetch = a.runbookConfig(cfg.System)

	if before != nil && sameFetch(before.fetch, s.fetch) {
		s.runbooks = before.runbooks // keeps its cache
	} else {
		s.runbooks = runbook.New(s.fetch)
	}

	s.engine = a.engineSettings(s)

	if err := a.newIntake(s, before); err != nil {
		s.discard(before)

		return nil, err
	}

	return s, nil
}

// discard closes what was created for settings that are not used.
func (s *settings) discard(before *settings) {
	if before == nil || s.runbooks != before.runbooks {
		s.runbooks.Close()
	}
}

// withEarlier returns cfg plus the servers and providers that only an earlier configuration has.
func withEarlier(cfg, earlier *config.Config) *config.Config {
	merged := *cfg
	merged.MCPServers = maps.Clone(earlier.MCPServers)
	maps.Copy(merged.MCPServers, cfg.MCPServers)
	merged.LLMProviders = maps.Clone(earlier.LLMProviders)
	maps.Copy(merged.LLMProviders, cfg.LLMProviders)

	return &merged
}

// newIntake creates the parts that receive alerts.
func (a *App) newIntake(s *settings, before *settings) error {
	alerts, err := triageSettings(s.config.Alerts)
	if err != nil {
		return err
	}

	cfg := engine.IntakeConfig{
		DB: a.db, Route: a.route(s), TakesQuestions: s.chains.TakesQuestions, Decode: s.chains.Decode, Mask: a.maskText, Clock: a.clock,
	}

	if before == nil {
		s.intake = engine.NewIntake(cfg)
	} else {
		s.intake = before.intake.Reconfigured(cfg)
	}

	s.desk = triage.New(triage.Config{DB: a.db, Intake: s.intake, Settings: alerts, Mask: a.maskText, Clock: a.clock})
	s.inbox = inbox.New(inbox.Config{
		Reader: inbox.Reader{
			Config: s.config, Chains: s.chains,
			// A submitted address that masking would change is refused, so it is not taken from an alert either.
			AllowsRunbook: func(url string) bool { return s.runbooks.Check(url) == nil && a.maskText(url) == url },
		},
		Intake: s.intake, Desk: s.desk, Env: a.options.Env, Confirm: a.confirmSubscription(s.fetch), Certificate: newSNSCertificates(s.fetch, a.clock).get,
	})

	return nil
}

func (a *App) engineSettings(s *settings) engine.Settings {
	cfg := s.config

	return engine.Settings{
		Chain: s.chains.Chain, Server: s.chains.Server, Decode: s.chains.Decode,
		Has: s.chains.Has(), UnrunnableTimeout: cfg.Queue.UnrunnableTimeout,
		DefaultRunbook: cfg.Defaults.Runbook,
		Agent: agent.Config{
			LLM: a.llm, Retry: a.retry(cfg), Price: a.price, Mask: a.maskText, Clock: a.clock, Logger: a.logger, OpenStream: a.openStream,
		},
		Workers: cfg.Queue.WorkerCount, MaxSessions: cfg.Queue.MaxConcurrentSessions,
		ByTeam: cfg.System.Auth.ByTeam(), MaxPerTeam: cfg.Queue.MaxSessionsPerTeam, TeamLimits: cfg.Queue.TeamLimits,
		Budgets: engine.Budgets{
			Session: engine.Budget(cfg.System.Budgets.Session), Daily: engine.Budget(cfg.System.Budgets.Daily),
		},
		ConcludeResolved: cfg.Alerts.Resolved.Conclude,
		SessionTimeout:   cfg.Queue.SessionTimeout,
	}
}

// price adds the current cost to the usage of a call.
func (a *App) price(model string, at time.Time, used tarsy.Usage) tarsy.Usage {
	return a.current().prices.Price(model, at, used)
}

// dailyBudgetUSD returns what all sessions together may cost per day.
func (a *App) dailyBudgetUSD() float64 { return a.current().config.System.Budgets.Daily.MaxCostUSD }

// noteModel returns the model that processes notes.
func (a *App) noteModel(timeout time.Duration) infer.Config {
	s := a.current()
	used := s.chains.NoteModel()

	return infer.Config{
		LLM: a.llm, Provider: used.Provider, Model: used.Model, Backend: used.Backend, Retry: a.retry(s.config), Timeout: timeout,
	}
}

// retry returns how model calls are retried.
func (a *App) retry(cfg *config.Config) llm.Retry {
	configured := cfg.Defaults.LLMRetry

	return llm.Retry{
		Attempts: configured.MaxAttempts, FirstWait: configured.FirstWait, MaxWait: configured.MaxWait,
		MaxRetryAfter: configured.MaxRetryAfter, Clock: a.clock,
	}
}

// openTools connects the tools of an execution, with the current configuration.
func (a *App) openTools(
	ctx context.Context, executionID string, servers []tarsy.MCPServerSelection, rules []agent.ToolRule,
) (agent.Tools, error) {
	return a.current().tools.Open(ctx, executionID, servers, rules)
}

// fetchRunbook fetches and masks a runbook.
func (a *App) fetchRunbook(ctx context.Context, url string) (string, error) {
	text, err := a.current().runbooks.Fetch(ctx, url)

	return a.maskText(text), err
}

func (a *App) runbookConfig(cfg config.System) runbook.Config {
	fetch := runbook.Config{
		AllowedDomains: cfg.Runbooks.AllowedDomains, CacheTTL: cfg.Runbooks.CacheTTL, Clock: a.clock, Logger: a.logger,
	}

	if cfg.Runbooks.CacheTTL == 0 {
		fetch.CacheTTL = -1
	}

	fetch.GitHubToken, _ = a.options.Env(cfg.GitHub.TokenEnv)

	if a.options.Web != nil {
		fetch.Resolve, fetch.Dial = a.options.Web.Resolve, a.options.Web.Dial
	}

	return fetch
}

// sameFetch reports whether two fetchers would behave the same.
func sameFetch(x, y runbook.Config) bool {
	return slices.Equal(x.AllowedDomains, y.AllowedDomains) && x.CacheTTL == y.CacheTTL && x.GitHubToken == y.GitHubToken
}

// sameModels reports whether two configurations reach models in the same way.
func sameModels(x, y *config.Config) bool {
	return x.System.PromptCaching == y.System.PromptCaching && reflect.DeepEqual(x.LLMProviders, y.LLMProviders)
}

// configWarning is a warning about a valid configuration.
type configWarning struct{ message, details string }

// warnings lists the warnings about the configuration.
func (s *settings) warnings(env func(string) (string, bool), scripted bool) []configWarning {
	var all []configWarning

	for _, w := range s.chains.Warnings() {
		all = append(all, configWarning{message: w.String()})
	}

	if !scripted {
		for _, unset := range s.chains.UnsetVariables(env) {
			all = append(all, configWarning{message: unset.String(), details: "sessions that need it fail"})
		}
	}

	for _, unset := range s.config.UnsetVariables(env) {
		hint := unset.Hint
		unset.Hint = "" // the details show it

		all = append(all, configWarning{message: unset.String(), details: hint})
	}

	return all
}

// labels returns the names in the configuration that can appear in metric labels.
func (s *settings) labels() (providers, models, servers []string) {
	return configLabels(s.config)
}

func configLabels(cfg *config.Config) (providers, models, servers []string) {
	found := map[string]bool{}
	for _, provider := range cfg.LLMProviders {
		found[provider.Model] = true
	}

	return slices.Collect(maps.Keys(cfg.LLMProviders)), slices.Collect(maps.Keys(found)),
		append(slices.Collect(maps.Keys(cfg.MCPServers)), tarsy.OwnServer)
}

// route finds an alert's chain and checks its runbook's address.
func (a *App) route(s *settings) func(alert tarsy.Alert) (chain.Route, error) {
	return func(alert tarsy.Alert) (chain.Route, error) {
		var offered chain.Offered
		if alert.MCPSelection != nil {
			offered = a.health.monitor.Tools()
		}

		route, err := s.chains.Route(alert, offered)
		if err != nil || alert.RunbookURL == "" {
			return route, err
		}

		if err := s.runbooks.Check(alert.RunbookURL); err != nil {
			return chain.Route{}, err
		}

		// The address is stored and shown unmasked, because it must be fetched later.
		if a.maskText(alert.RunbookURL) != alert.RunbookURL {
			return chain.Route{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "runbook_url",
				"runbook_url holds what looks like a secret; private runbooks on GitHub are read with system.github.token_env")
		}

		return route, nil
	}
}
