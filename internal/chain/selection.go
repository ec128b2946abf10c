package chain

import (
	"slices"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/llm"
)

// Follow returns the chain for a session whose alert made this selection.
func (r Recipe) Follow(selection *tarsy.MCPSelection) Chain {
	if selection == nil {
		return r.Chain
	}

	apply := Agent.replace
	if r.Narrows {
		apply = Agent.narrow
	}

	c := r.Chain
	c.Stages = slices.Clone(c.Stages)

	for i := range c.Stages {
		c.Stages[i].Agents = slices.Clone(c.Stages[i].Agents)

		for j, a := range c.Stages[i].Agents {
			c.Stages[i].Agents[j] = apply(a, *selection)
		}
	}

	if c.Chat != nil {
		chat := apply(*c.Chat, *selection)
		c.Chat = &chat
	}

	return c
}

// hasTools reports whether the agent can call tools. An agent that answers in a single call cannot.
func (a Agent) hasTools() bool { return a.Spec.Strategy != agent.Synthesis }

// narrow restricts the agent to what the alert selected: servers, their tools, and native tools.
func (a Agent) narrow(selection tarsy.MCPSelection) Agent {
	if !a.hasTools() {
		return a
	}

	var kept []tarsy.MCPServerSelection

	for _, own := range a.Servers {
		i := slices.IndexFunc(selection.Servers, func(s tarsy.MCPServerSelection) bool { return s.Name == own.Name })
		if i < 0 {
			continue
		}

		tools, some := intersect(own.Tools, selection.Servers[i].Tools)
		if some {
			kept = append(kept, tarsy.MCPServerSelection{Name: own.Name, Tools: tools})
		}
	}

	a.Servers = kept

	return a.withNative(selection.NativeTools, func(configured bool, selected *bool) bool {
		return configured && (selected == nil || *selected)
	})
}

// intersect returns the names in both lists; an empty list means all names. It reports whether the result has any.
func intersect(a, b []string) (both []string, some bool) {
	switch {
	case len(a) == 0:
		return b, true
	case len(b) == 0:
		return a, true
	}

	both = slices.DeleteFunc(slices.Clone(a), func(name string) bool { return !slices.Contains(b, name) })

	return both, len(both) > 0
}

// replace gives the agent what the alert selected, regardless of its configuration. Sessions stored by earlier releases use it.
func (a Agent) replace(selection tarsy.MCPSelection) Agent {
	if !a.hasTools() {
		return a
	}

	a.Servers = selection.Servers

	return a.withNative(selection.NativeTools, overrideBool)
}

// withNative applies a selection to the native tools of the model and its fallbacks.
func (a Agent) withNative(selected *tarsy.NativeToolsSelection, apply func(configured bool, selected *bool) bool) Agent {
	if selected == nil {
		return a
	}

	with := func(tools llm.NativeTools) llm.NativeTools {
		return llm.NativeTools{
			GoogleSearch:  apply(tools.GoogleSearch, selected.GoogleSearch),
			CodeExecution: apply(tools.CodeExecution, selected.CodeExecution),
			URLContext:    apply(tools.URLContext, selected.URLContext),
		}
	}

	a.Spec.NativeTools = with(a.Spec.NativeTools)
	a.Spec.Fallbacks = slices.Clone(a.Spec.Fallbacks)

	for i := range a.Spec.Fallbacks {
		a.Spec.Fallbacks[i].NativeTools = with(a.Spec.Fallbacks[i].NativeTools)
	}

	return a
}
