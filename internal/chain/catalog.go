package chain

import (
	"maps"
	"slices"

	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/progress"
	"tarsy.dev/tarsy/internal/schema"
)

// Catalog holds the chains and MCP servers of one configuration, resolved once. It is immutable, so it can be shared.
type Catalog struct {
	cfg     *config.Config
	chains  map[string]Chain
	servers map[string]Server
	// rules are the tool rules in the servers' own configurations, by ID.
	rules map[string]agent.ToolRule
	has   []string
	// stored has the encoded recipes for alerts that select no servers, by chain ID.
	stored map[string]progress.Recipe
	routes []alertRoute
}

// NewCatalog resolves a whole configuration.
func NewCatalog(cfg *config.Config) *Catalog {
	r := resolver{cfg: cfg}
	c := &Catalog{
		cfg: cfg, chains: make(map[string]Chain, len(cfg.Chains)), servers: make(map[string]Server, len(cfg.MCPServers)),
		rules: make(map[string]agent.ToolRule, len(cfg.MCPServers)), has: []string{needToolRules},
		stored: make(map[string]progress.Recipe, len(cfg.Chains)),
	}

	for id, configured := range cfg.MCPServers {
		c.servers[id] = r.server(configured)
		c.rules[id] = ServerRule(configured)
		c.has = append(c.has, needServer(id))
	}

	for name := range cfg.LLMProviders {
		c.has = append(c.has, needProvider(name))
	}

	for id, configured := range cfg.Chains {
		c.chains[id] = r.chain(configured)
		c.stored[id] = c.recipe(c.chains[id], nil).Stored(nil)
		c.has = append(c.has, NeedChain(id))
	}

	slices.Sort(c.has)

	c.routes = newAlertRoutes(cfg)

	return c
}

// Chain returns the chain with this ID.
func (c *Catalog) Chain(id string) (Chain, bool) {
	chain, ok := c.chains[id]

	return chain, ok
}

// Server returns the MCP server with this ID.
func (c *Catalog) Server(id string) (Server, bool) {
	server, ok := c.servers[id]

	return server, ok
}

// TakesQuestions reports whether a chain has a chat, and whether the chain is configured at all.
func (c *Catalog) TakesQuestions(chainID string) (takes, known bool) {
	chain, known := c.chains[chainID]

	return chain.Chat != nil, known
}

// MCPServers lists the servers whose tools are used by the agents of some chain, sorted. Built-in chains count only if the user
// has configured none: an unused built-in must not start programs.
func (c *Catalog) MCPServers() []string {
	used := map[string]struct{}{}

	for _, chain := range c.active() {
		for a := range chain.agents() {
			for _, s := range a.Servers {
				used[s.Name] = struct{}{}
			}
		}
	}

	return slices.Sorted(maps.Keys(used))
}

// LLMProviders lists the providers that some chain uses, also as a fallback, and the one configured for notes, sorted. Built-in
// chains count as in MCPServers.
func (c *Catalog) LLMProviders() []string {
	used := map[string]struct{}{}

	for _, chain := range c.active() {
		for _, m := range chain.Summary.Models {
			used[m.Provider] = struct{}{}
		}

		for a := range chain.agents() {
			used[a.Spec.Provider] = struct{}{}

			for _, f := range a.Spec.Fallbacks {
				used[f.Provider] = struct{}{}
			}
		}
	}

	for _, id := range c.MCPServers() {
		if d := c.servers[id].Digest; d != nil && d.Provider != "" {
			used[d.Provider] = struct{}{}
		}
	}

	if provider := c.cfg.NotePipeline.LLMProvider; provider != "" {
		used[provider] = struct{}{}
	}

	return slices.Sorted(maps.Keys(used))
}

// NoteModel returns the model that processes notes.
func (c *Catalog) NoteModel() agent.Fallback {
	r := resolver{cfg: c.cfg}
	merged := merge(level{provider: c.cfg.Defaults.LLMProvider, backend: c.cfg.Defaults.LLMBackend}, level{provider: c.cfg.NotePipeline.LLMProvider})

	return r.model(merged.provider, r.backend(merged), nil)
}

// Warnings returns the warnings about a valid configuration, in the order of the files.
func (c *Catalog) Warnings() []config.Warning {
	warnings := slices.Concat(c.cfg.Warnings, c.cfg.BudgetWarnings(c.LLMProviders()), c.cfg.SupportWarnings(c.LLMProviders()), c.cfg.WriteBackWarnings())
	schema.SortWarnings(warnings)

	return warnings
}

// Notes returns the configuration keys that were set but have no effect.
func (c *Catalog) Notes() []config.Note { return c.cfg.Notes() }

// UnsetVariables finds the unset environment variables of the providers in use. Load does not check this: files must be valid
// wherever they are read, but keys are set only where the server runs.
func (c *Catalog) UnsetVariables(env func(string) (string, bool)) []config.Problem {
	var problems []config.Problem
	for _, name := range c.LLMProviders() {
		problems = append(problems, c.cfg.UnsetVariablesOf(name, env)...)
	}

	return problems
}

// active returns the chains from the files, or the built-in ones if there are none.
func (c *Catalog) active() []Chain {
	var all, users []Chain

	for _, id := range slices.Sorted(maps.Keys(c.chains)) {
		all = append(all, c.chains[id])

		if c.cfg.Written("agent_chains", id) {
			users = append(users, c.chains[id])
		}
	}

	if len(users) > 0 {
		return users
	}

	return all
}
