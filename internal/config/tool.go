package config

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

var toolPattern = regexp.MustCompile(`^([A-Za-z0-9_./-]{1,128}\*?|\*)$`)

// checkTools finds tool lists that cannot be intended as written.
func (c *Config) checkTools() []Problem {
	var problems []Problem
	for _, id := range slices.Sorted(maps.Keys(c.MCPServers)) {
		s := c.MCPServers[id]
		problems = append(problems, c.checkToolLists(joinPath("mcp_servers", id), s.AllowedTools, s.DeniedTools)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		a := c.Agents[name]
		problems = append(problems, c.checkToolLists(joinPath("agents", name), a.AllowedTools, a.DeniedTools)...)
	}
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		chain, path := c.Chains[id], joinPath("agent_chains", id)
		for i, stage := range chain.Stages {
			for j, a := range stage.Agents {
				at := fmt.Sprintf("%s.stages[%d].agents[%d]", path, i, j)
				problems = append(problems, c.checkToolLists(at, a.AllowedTools, a.DeniedTools)...)
			}
		}
		if chain.Chat != nil {
			problems = append(problems, c.checkToolLists(path+".chat", chain.Chat.AllowedTools, chain.Chat.DeniedTools)...)
		}
	}
	return problems
}

// checkToolPattern checks one tool name or pattern.
func (c *Config) checkToolPattern(path, name string) []Problem {
	if toolPattern.MatchString(name) {
		return nil
	}
	return []Problem{c.problem(path, "not the name of a tool", "write the name as the server lists it, or its beginning and a *: get_*")}
}

// checkToolLists checks the two lists of one place. It cannot check whether the tools exist; only their servers know.
func (c *Config) checkToolLists(path string, allowed, denied []string) []Problem {
	var problems []Problem
	if _, set := c.marks[path+".allowed_tools"]; set && len(allowed) == 0 {
		problems = append(problems, c.problem(path+".allowed_tools", "is empty", "leave it out to allow all tools, or deny all with denied_tools: ['*']"))
	}
	for key, names := range map[string][]string{".allowed_tools": allowed, ".denied_tools": denied} {
		for i, name := range names {
			problems = append(problems, c.checkToolPattern(fmt.Sprintf("%s%s[%d]", path, key, i), name)...)
		}
	}
	for i, name := range allowed {
		for _, pattern := range denied {
			if covers(pattern, name) {
				problems = append(problems, c.problem(fmt.Sprintf("%s.allowed_tools[%d]", path, i),
					fmt.Sprintf("%q is also denied, by %q", name, pattern), "denied_tools wins: remove it from one of the lists"))
				break
			}
		}
	}
	return problems
}

// covers reports whether a pattern matches every name that another one matches.
func covers(pattern, other string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(other, prefix)
	}
	return pattern == other
}
