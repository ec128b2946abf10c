package app

import (
	"context"
	"fmt"
	"os"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/engine"
	"tarsy.dev/tarsy/internal/mcp"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/runbook"
	"tarsy.dev/tarsy/llm"
)

// serverID names this process: the host for people, the rest so that no two are alike.
func serverID() string {
	host, err := os.Hostname()
	if err != nil {
		host = "tarsy"
	}

	id := tarsy.NewID()

	return fmt.Sprintf("%s-%d-%s", host, os.Getpid(), id[len(id)-6:])
}

// recipes turns the configured chains into what the engine follows, once.
func recipes(cfg *config.Config) func(chainID string) (engine.Recipe, bool) {
	all := make(map[string]engine.Recipe, len(cfg.Chains))

	for id, chain := range cfg.Chains {
		summary := cfg.ResolveSummary(chain)
		first := config.ResolvedModel{Provider: summary.Provider, LLM: summary.LLM, Backend: summary.Backend}
		recipe := engine.Recipe{ID: id, Summary: engine.RecipeSummary{
			Models: fallbacks(append([]config.ResolvedModel{first}, summary.Fallbacks...)), Limit: cfg.Defaults.IterationTimeout,
		}}

		for i := range chain.Stages {
			recipe.Stages = append(recipe.Stages, recipeStage(cfg, chain, i))
		}

		if chat, ok := cfg.ResolveChat(chain); ok {
			answerer := recipeAgent(chat)
			recipe.Chat = &answerer
		}

		all[id] = recipe
	}

	return func(chainID string) (engine.Recipe, bool) {
		recipe, ok := all[chainID]

		return recipe, ok
	}
}

// recipeStage lists who runs in a stage: its agents, or each of them as often as it has replicas.
func recipeStage(cfg *config.Config, chain config.Chain, index int) engine.RecipeStage {
	configured := chain.Stages[index]
	stage := engine.RecipeStage{
		Name: configured.Name, Policy: tarsy.SuccessPolicy(cfg.SuccessPolicyOf(configured)), Parallel: tarsy.ParallelMultiAgent,
		Synthesis: recipeAgent(cfg.ResolveSynthesis(chain, index)),
	}

	if configured.Replicas > 1 {
		stage.Parallel = tarsy.ParallelReplica
	}

	for j := range configured.Agents {
		a := recipeAgent(cfg.ResolveAgent(chain, index, j))

		if configured.Replicas <= 1 {
			stage.Agents = append(stage.Agents, a)

			continue
		}

		for n := range configured.Replicas {
			replica := a
			replica.Spec.Name = fmt.Sprintf("%s-%d", a.Spec.Name, n+1)
			stage.Agents = append(stage.Agents, replica)
		}
	}

	return stage
}

func recipeAgent(resolved config.ResolvedAgent) engine.RecipeAgent {
	a := engine.RecipeAgent{
		Spec: agent.Spec{
			Name: resolved.Name, Strategy: agent.Strategy(resolved.Strategy), CustomInstructions: resolved.CustomInstructions,
			MaxIterations: resolved.MaxIterations, IterationTimeout: resolved.IterationTimeout,
			Provider: resolved.Provider, Model: resolved.LLM.Model, Backend: resolved.Backend, NativeTools: llm.NativeTools(resolved.NativeTools),
			MaxResultTokens: resolved.LLM.MaxToolResultTokens, Fallbacks: fallbacks(resolved.Fallbacks),
		},
	}

	for _, id := range resolved.MCPServers {
		a.Servers = append(a.Servers, engine.ServerTools{Server: id})
	}

	return a
}

func fallbacks(models []config.ResolvedModel) []agent.Fallback {
	var all []agent.Fallback

	for _, m := range models {
		all = append(all, agent.Fallback{
			Provider: m.Provider, Model: m.LLM.Model, Backend: m.Backend, MaxResultTokens: m.LLM.MaxToolResultTokens,
			NativeTools: llm.NativeTools(m.NativeTools),
		})
	}

	return all
}

// servers tells the engine what is configured of an MCP server.
func servers(cfg *config.Config) func(id string) (engine.Server, bool) {
	return func(id string) (engine.Server, bool) {
		configured, ok := cfg.MCPServers[id]
		server := engine.Server{Instructions: configured.Instructions}

		if s := configured.Summarization; s != nil && s.Enabled {
			model := cfg.ResolveDigest(*s)
			server.Digest = &agent.Digest{
				Threshold: s.SizeThresholdTokens, MaxTokens: s.SummaryMaxTokenLimit,
				Provider: model.Provider, Model: model.LLM.Model, Backend: model.Backend,
			}
		}

		return server, ok
	}
}

// takesQuestions tells whether a chain has a chat.
func takesQuestions(cfg *config.Config) func(chainID string) bool {
	return func(chainID string) bool {
		_, ok := cfg.ResolveChat(cfg.Chains[chainID])

		return ok
	}
}

func mcpServers(cfg *config.Config) map[string]mcp.ServerConfig {
	servers := make(map[string]mcp.ServerConfig, len(cfg.MCPServers))

	for id, s := range cfg.MCPServers {
		servers[id] = mcp.ServerConfig{
			Transport: mcp.Transport{
				Type: s.Transport.Type, Command: s.Transport.Command, Args: s.Transport.Args, Env: s.Transport.Environment(),
				URL: s.Transport.URL, BearerToken: s.Transport.BearerToken.Reveal(), VerifySSL: &s.Transport.VerifySSL,
				Headers: s.Transport.Headers(), CleanupURL: s.Transport.SessionCleanupURL, Timeout: s.Transport.Timeout,
			},
		}
	}

	return servers
}

func openTools(factory *mcp.Factory) func(ctx context.Context, executionID string, servers []engine.ServerTools) (agent.Tools, error) {
	return func(ctx context.Context, executionID string, servers []engine.ServerTools) (agent.Tools, error) {
		selections := make([]mcp.Selection, 0, len(servers))
		for _, s := range servers {
			selections = append(selections, mcp.Selection(s))
		}

		return factory.Open(ctx, executionID, selections)
	}
}

func alertTypes(cfg *config.Config) func() []api.AlertType {
	var types []api.AlertType
	for _, t := range cfg.AlertTypes() {
		types = append(types, api.AlertType{Name: t.Name, ChainID: t.ChainID, Description: t.Description})
	}

	return func() []api.AlertType { return types }
}

// checkAlert resolves where an alert goes and refuses what is not configured, saying what is.
func checkAlert(cfg *config.Config, runbooks *runbook.Fetcher, mask func(string) string) func(alert *tarsy.Alert) (engine.Route, error) {
	recipeOf := recipes(cfg)

	return func(alert *tarsy.Alert) (engine.Route, error) {
		chain, alertType, err := chainFor(cfg, alert.AlertType)
		if err != nil {
			return engine.Route{}, err
		}

		alert.AlertType = alertType

		if err := checkSelection(cfg, alert.MCPSelection); err != nil {
			return engine.Route{}, err
		}

		if alert.RunbookURL != "" {
			if err := runbooks.Check(alert.RunbookURL); err != nil {
				return engine.Route{}, err
			}

			// The address is stored and shown as it is, for it must be read later.
			if mask(alert.RunbookURL) != alert.RunbookURL {
				return engine.Route{}, tarsy.FieldErrorf(tarsy.CodeInvalidField, "runbook_url",
					"runbook_url holds what looks like a secret; private runbooks on GitHub are read with system.github.token_env")
			}
		}

		recipe, _ := recipeOf(chain.ID)

		return engine.Route{
			ChainID: chain.ID, AgentType: chain.Stages[0].Agents[0].Name, Runbook: cfg.Defaults.Runbook, StageCount: recipe.StageCount(),
		}, nil
	}
}

func checkSelection(cfg *config.Config, selection *tarsy.MCPSelection) error {
	if selection == nil {
		return nil
	}

	for _, s := range selection.Servers {
		if _, ok := cfg.MCPServers[s.Name]; ok {
			continue
		}

		known := make([]string, 0, len(cfg.MCPServers))
		for id := range cfg.MCPServers {
			known = append(known, id)
		}

		return tarsy.FieldErrorf(tarsy.CodeUnknownMCPServer, "mcp_selection.servers",
			"there is no MCP server %q; %s", tarsy.CleanText(s.Name), nearest.HintWithList(s.Name, known, "MCP servers"))
	}

	return nil
}
