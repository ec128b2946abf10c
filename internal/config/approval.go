package config

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tarsy.dev/tarsy/internal/nearest"
)

// Approvals is the approvals section.
type Approvals struct {
	ExpiresAfter time.Duration  `yaml:"expires_after" doc:"How long people have to decide. The agent then continues without the call." default:"1h" min:"1s"`
	Rules        []ApprovalRule `yaml:"rules" doc:"Policies for tool calls. The first rule that matches applies. If none matches, calls of writing_tools wait for approval, and unnamed applies to all others."`
	Unnamed      string         `yaml:"unnamed" doc:"Policy for tools that neither a rule nor writing_tools names and that their MCP server does not mark as read-only: ask waits for approval, always makes the call." enum:"ask,always" default:"always"`
}

// unnamedAsk is the value of approvals.unnamed that makes calls wait for approval.
const unnamedAsk = "ask"

// ApprovalRule is one entry of approvals.rules.
type ApprovalRule struct {
	Agent     string            `yaml:"agent" doc:"Agent that makes the call; any by default. A name can end in *."`
	Server    string            `yaml:"server" doc:"MCP server, in the same form."`
	Tool      string            `yaml:"tool" doc:"Tool, in the same form."`
	Arguments map[string]string `yaml:"arguments" doc:"Regular expressions (RE2) by the path of an argument, such as metadata.namespace. Each must match the whole value." format:"argument_pattern"`
	Policy    string            `yaml:"policy" doc:"Policy: ask waits for approval, always makes the call, never rejects it." enum:"ask,always,never" required:"true"`
}

// checkApprovals rejects rules that match nothing because of a mistyped name: otherwise no one would notice until a call that should have
// waited is made.
func (c *Config) checkApprovals() []Problem {
	var problems []Problem
	for _, id := range slices.Sorted(maps.Keys(c.MCPServers)) {
		for i, name := range c.MCPServers[id].WritingTools {
			problems = append(problems, c.checkToolPattern(fmt.Sprintf("%s.writing_tools[%d]", joinPath("mcp_servers", id), i), name)...)
		}
	}
	for i, rule := range c.Approvals.Rules {
		path := fmt.Sprintf("approvals.rules[%d]", i)
		if rule.Tool != "" {
			problems = append(problems, c.checkToolPattern(path+".tool", rule.Tool)...)
		}
		for _, named := range []struct{ key, value, section, what string }{
			{"agent", rule.Agent, "agents", "agent"},
			{"server", rule.Server, "mcp_servers", "MCP server"},
		} {
			if named.value == "" || c.anyMatches(named.section, named.value) {
				continue
			}
			hint := nearest.HintWithList(named.value, c.names(named.section), named.what+"s")
			problems = append(problems, c.problem(path+"."+named.key, fmt.Sprintf("no %s matches %q", named.what, named.value), hint))
		}
	}
	return problems
}

// DecidesAbout reports whether the configuration makes a deliberate decision about a tool: approvals.unnamed asks, or writing_tools or an
// approval rule names it.
func (c *Config) DecidesAbout(server, tool string) bool {
	if c.Approvals.Unnamed == unnamedAsk {
		return true
	}
	for _, pattern := range c.MCPServers[server].WritingTools {
		if covers(pattern, tool) {
			return true
		}
	}
	for _, rule := range c.Approvals.Rules {
		if (rule.Server == "" || covers(rule.Server, server)) && (rule.Tool == "" || covers(rule.Tool, tool)) && rule.Server+rule.Tool != "" {
			return true
		}
	}
	return false
}

// anyMatches reports whether a name pattern matches an entry of a section.
func (c *Config) anyMatches(section, pattern string) bool {
	for _, name := range c.names(section) {
		if covers(pattern, name) {
			return true
		}
	}
	return false
}
