package chain

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/progress"
)

// Recipe is the plan of a session: its chain, and its MCP servers' instructions for agents, as configured when the alert was
// submitted. It is stored with the session, so its JSON is a contract between releases: fields are only added, readers ignore
// unknown fields, and the zero value of a new field means what earlier releases did. It contains no secrets: how a provider or
// server is reached is read from the configuration of the server that runs the session.
type Recipe struct {
	Chain Chain `json:"chain"`
	// Servers are the MCP servers that the session may use, by id.
	Servers map[string]Server `json:"servers"`
	// Narrows is set if the alert's selection narrows what each agent may use. Otherwise the selection replaces the agents'
	// servers, as in earlier releases.
	Narrows bool `json:"narrows,omitempty"`
}

// recipe returns the recipe of a session of this chain, whose alert may have selected some of its MCP servers.
func (c *Catalog) recipe(chain Chain, selection *tarsy.MCPSelection) Recipe {
	r := Recipe{Chain: chain, Servers: map[string]Server{}}

	if selection != nil {
		r.Narrows = true

		for _, s := range selection.Servers {
			r.Servers[s.Name] = c.servers[s.Name]
		}

		return r
	}

	for a := range chain.agents() {
		for _, s := range a.Servers {
			r.Servers[s.Name] = c.servers[s.Name]
		}
	}

	return r
}

// Stored encodes the recipe for storage with a session whose alert made this selection.
func (r Recipe) Stored(selection *tarsy.MCPSelection) progress.Recipe {
	body, err := json.Marshal(r)
	if err != nil {
		panic("chain: a recipe does not encode: " + err.Error())
	}

	const enough = 16 // bytes of the hash

	needs := r.Needs(selection)
	sum := sha256.Sum256(append(append(body, '\n'), strings.Join(needs, "\n")...))

	return progress.Recipe{Hash: base64.RawURLEncoding.EncodeToString(sum[:enough]), Needs: needs, Body: body}
}

// Needs lists what a server must have configured to run the session's stages, sorted. It does not include fallback models,
// which the session can run without, nor what is only used to answer questions.
func (r Recipe) Needs(selection *tarsy.MCPSelection) []string {
	needs := map[string]struct{}{}
	model := func(provider string) {
		if provider != "" {
			needs[needProvider(provider)] = struct{}{}
		}
	}

	for _, stage := range r.Follow(selection).Stages {
		for _, a := range stage.Agents {
			model(a.Spec.Provider)

			for _, s := range a.Servers {
				needs[needServer(s.Name)] = struct{}{}
			}
		}

		if len(stage.Agents) > 1 {
			model(stage.Synthesis.Spec.Provider)
		}
	}

	if len(r.Chain.Summary.Models) > 0 {
		model(r.Chain.Summary.Models[0].Provider)
	}

	for a := range r.Chain.agents() {
		if len(a.ToolRules) > 0 {
			needs[needToolRules] = struct{}{}
		}
	}

	return slices.Sorted(maps.Keys(needs))
}

// Has lists what this configuration has, in the terms of Needs, sorted. A session that a release without recipes stored needs
// its chain.
func (c *Catalog) Has() []string { return c.has }

// Decode decodes a stored recipe for a server with this configuration. It omits fallback models that are not configured here.
// Questions are answered by the recipe's agent, or by the one that is configured now if the recipe has none or its model is no
// longer configured.
func (c *Catalog) Decode(body json.RawMessage) (Recipe, error) {
	var r Recipe
	if err := json.Unmarshal(body, &r); err != nil {
		return Recipe{}, fmt.Errorf("decode recipe: %w", err)
	}

	for i := range r.Chain.Stages {
		stage := &r.Chain.Stages[i]
		for j := range stage.Agents {
			c.dropFallbacks(&stage.Agents[j].Spec)
		}

		c.dropFallbacks(&stage.Synthesis.Spec)
	}

	// The first model is not a fallback: without it the session does not run here.
	if models := r.Chain.Summary.Models; len(models) > 1 {
		r.Chain.Summary.Models = slices.Concat(models[:1], c.configured(models[1:]))
	}

	if r.Chain.Verdict != nil {
		r.Chain.Verdict.Models = r.Chain.Summary.Models
	}

	r.Chain.Chat = c.chat(r.Chain)

	return r, nil
}

func (c *Catalog) dropFallbacks(spec *agent.Spec) { spec.Fallbacks = c.configured(spec.Fallbacks) }

func (c *Catalog) configured(models []agent.Fallback) []agent.Fallback {
	return slices.DeleteFunc(slices.Clone(models), func(m agent.Fallback) bool { return !c.hasProvider(m.Provider) })
}

func (c *Catalog) hasProvider(name string) bool {
	_, ok := c.cfg.LLMProviders[name]

	return ok
}

// chat returns the agent that answers questions about a session of a stored chain.
func (c *Catalog) chat(stored Chain) *Agent {
	if stored.Chat != nil {
		c.dropFallbacks(&stored.Chat.Spec)

		if c.hasProvider(stored.Chat.Spec.Provider) {
			return stored.Chat
		}
	}

	if now := c.chains[stored.ID].Chat; now != nil {
		return now
	}

	return stored.Chat
}
