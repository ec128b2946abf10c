package config

import "slices"

// Names that a fresh installation uses.
const (
	builtinChain    = "kubernetes"
	builtinProvider = "google-default"
)

// The built-in agents that write syntheses, answers, executive summaries and verdicts unless others are configured.
const (
	SynthesisAgent   = "SynthesisAgent"
	ChatAgent        = "ChatAgent"
	ExecSummaryAgent = "ExecSummaryAgent"
	VerdictAgent     = "VerdictAgent"
)

// addBuiltins adds every built-in entry whose name is not used in the files.
func (c *Config) addBuiltins(env func(string) (string, bool)) {
	c.addKubernetesAgent(env)
	c.Agents = under(c.Agents, builtinAgents())
	c.MCPServers = under(c.MCPServers, builtinServers(env))
	c.LLMProviders = under(c.LLMProviders, builtinProviders(env))
	c.addBuiltinChain()
	if c.Defaults.AlertType == "" {
		if _, ok := c.ChainFor(builtinChain); ok {
			c.Defaults.AlertType = builtinChain
		}
	}
}

// addBuiltinChain adds the built-in chain with the alert types that no configured chain claims, or not at all if none is left.
func (c *Config) addBuiltinChain() {
	if _, taken := c.Chains[builtinChain]; taken {
		return
	}
	types := slices.DeleteFunc([]string{builtinChain}, func(name string) bool {
		_, claimed := c.ChainFor(name)
		return claimed
	})
	if len(types) == 0 {
		return
	}
	c.Chains = under(c.Chains, map[string]Chain{builtinChain: {
		AlertTypes:  types,
		Description: "Looks into an alert about a Kubernetes cluster.",
		Stages:      []Stage{{Name: "analysis", Agents: []StageAgent{{Name: kubernetesAgent}}}},
		Chat:        &Chat{Enabled: true, Agent: ChatAgent},
	}})
}

func under[T any](entries, builtins map[string]T) map[string]T {
	if entries == nil {
		entries = make(map[string]T, len(builtins))
	}
	for name, entry := range builtins {
		if _, taken := entries[name]; !taken {
			entries[name] = entry
		}
	}
	return entries
}

func builtinAgents() map[string]Agent {
	return map[string]Agent{
		ChatAgent: {
			Description: "Answers questions about a finished investigation.",
			CustomInstructions: "Answer from the investigation first and use tools only for what it does not hold. " +
				"Be brief. Say so when you do not know.",
		},
		ExecSummaryAgent: {
			Type:               AgentTypeExecSummary,
			Description:        "Writes the short summary of a finished investigation.",
			CustomInstructions: "Write for readers who did not follow the investigation.",
		},
		VerdictAgent: {
			Type:        AgentTypeVerdict,
			Description: "Writes the verdict of a finished investigation: outcome, cause, confidence, impact and next steps.",
		},
		SynthesisAgent: {
			Type:        AgentTypeSynthesis,
			Description: "Makes one analysis out of several agents' findings.",
			CustomInstructions: "You are given several independent analyses of one alert. Keep what the evidence carries, " +
				"name where they disagree and which side is better supported, and write one analysis.",
		},
		"ScoringAgent": {
			Type:        AgentTypeScoring,
			Description: "Scores how good a finished investigation is.",
			CustomInstructions: "Judge the work and not the outcome: was the evidence looked at, do the conclusions follow from it, " +
				"what was missed? Give reasons for each point you take off.",
		},
		"WebResearcher": {
			Description: "Looks things up on the web for another agent.",
			NativeTools: &NativeTools{GoogleSearch: new(true), CodeExecution: new(false), URLContext: new(true)},
			CustomInstructions: "Find what is known about the question in documentation, release notes and issue trackers. " +
				"Give the address of every source and say how old it is.",
		},
		"CodeExecutor": {
			Description: "Computes and checks things by running code.",
			NativeTools: &NativeTools{GoogleSearch: new(false), CodeExecution: new(true), URLContext: new(false)},
			CustomInstructions: "Solve the task with short programs. Show the result and how it was computed. " +
				"Do not guess what you can calculate.",
		},
		"GeneralWorker": {
			Description: "Does a single task that needs no special knowledge.",
			CustomInstructions: "Do exactly the task you were given and report the result. " +
				"If something you need is missing, say what.",
		},
		"ComposeAgent": {
			Type:        AgentTypeSynthesis,
			Description: "Rewrites a report with what has become known since.",
			CustomInstructions: "Work the later findings into the report. Keep its form, correct what turned out wrong, " +
				"and mark what changed.",
		},
	}
}
