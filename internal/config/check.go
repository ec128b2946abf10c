package config

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/alert/field"
	"tarsy.dev/tarsy/internal/mask"
	"tarsy.dev/tarsy/internal/match"
	"tarsy.dev/tarsy/internal/nearest"
	"tarsy.dev/tarsy/internal/origin"
	"tarsy.dev/tarsy/internal/runbook"
	"tarsy.dev/tarsy/internal/schema"
)

var anyVariableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// check validates the whole configuration and returns all problems. known are the problems found so far: a value that could not be read is
// not also reported as missing.
func (c *Config) check(known []Problem) []Problem {
	var problems []Problem
	c.walk(func(l leaf) { problems = append(problems, c.checkLeaf(l)...) })
	problems = append(problems, c.checkRequired()...)
	problems = append(problems, c.checkAlertTypes()...)
	problems = append(problems, c.checkLease()...)
	problems = append(problems, c.checkTLS()...)
	problems = append(problems, c.checkStrategies()...)
	problems = append(problems, c.checkStageAgents()...)
	problems = append(problems, c.checkProviders()...)
	problems = append(problems, c.checkFallbacks()...)
	problems = append(problems, c.checkPrices()...)
	problems = append(problems, c.checkDiscord()...)
	problems = append(problems, c.checkSlack()...)
	problems = append(problems, c.checkAuth()...)
	problems = append(problems, c.checkReceivers()...)
	problems = append(problems, c.checkGrouping()...)
	problems = append(problems, c.checkMaintenance()...)
	problems = append(problems, c.checkWriteBack()...)
	problems = append(problems, c.checkTools()...)
	problems = append(problems, c.checkApprovals()...)
	for _, id := range slices.Sorted(maps.Keys(c.MCPServers)) {
		if id == tarsy.OwnServer {
			problems = append(problems, c.problem(joinPath("mcp_servers", id), "the name is reserved for TARSy's own tools", "choose another name"))
		}
		if strings.Contains(id, "__") || strings.Contains(id, ".") || strings.HasSuffix(id, "_") {
			problems = append(problems, c.problem(joinPath("mcp_servers", id),
				`the name contains "__" or ".", or ends in "_", which separate servers and tools in the names of tools`, `use "-" instead`))
		}
		problems = append(problems, c.checkTransport(joinPath("mcp_servers", id)+".transport", c.MCPServers[id].Transport)...)
		problems = append(problems, c.checkMasking(joinPath("mcp_servers", id)+".data_masking", c.MCPServers[id].DataMasking)...)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Defaults.Agents)) {
		if _, ok := c.Agents[name]; !ok {
			hint := nearest.HintWithList(name, c.names("agents"), "agents")
			problems = append(problems, c.problem(joinPath("defaults.agents", name), "unknown agent", hint))
		}
	}
	return slices.DeleteFunc(problems, func(p Problem) bool { return reported(known, p.Path) })
}

// reported reports whether there is already a problem with this value, a part of it, or its parent.
func reported(known []Problem, path string) bool {
	return slices.ContainsFunc(known, func(p Problem) bool {
		return p.Path == path || isBelow(p.Path, path) || isBelow(path, p.Path)
	})
}

func (c *Config) problem(path, message, hint string) Problem {
	at := c.placeOf(path)
	return Problem{File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message, Hint: hint}
}

// checkLeaf checks one value against the tags of its field.
func (c *Config) checkLeaf(l leaf) []Problem {
	if _, set := c.marks[l.Path]; !set && l.Value.IsZero() {
		return nil
	}
	var problems []Problem
	if message := l.OutOfRange(); message != "" {
		problems = append(problems, c.problem(l.Path, message, ""))
	}
	paths, values := l.Texts()
	for i, path := range paths {
		if message, hint := c.checkText(values[i], c.quote(path, values[i], l), l.Field); message != "" {
			problems = append(problems, c.problem(path, message, hint))
		}
	}
	return problems
}

// quote quotes a value for a message, unless it is or may be a secret.
func (c *Config) quote(path, value string, l leaf) string {
	safe := shown(value, l.Field.Secret, c.marks[path].hidden || c.marks[l.Path].hidden)
	if safe != value {
		return "(value hidden)"
	}
	return strconv.Quote(value)
}

// checkText returns the problem with a value and a hint, or "" if it is valid.
func (c *Config) checkText(value, quoted string, f schema.Field) (string, string) {
	switch {
	case f.Enum != nil && !slices.Contains(enumValues(f.Enum), value):
		allowed := slices.DeleteFunc(slices.Clone(enumValues(f.Enum)), func(s string) bool { return s == "" })
		return "unknown value " + quoted, nearest.HintWithList(value, allowed, "values")
	case f.Ref != "" && value != "":
		if names := c.names(f.Ref); !slices.Contains(names, value) {
			what := strings.ReplaceAll(f.Ref, "_", " ")
			what = strings.NewReplacer("mcp", "MCP", "llm", "LLM").Replace(what)
			return "unknown " + strings.TrimSuffix(what, "s") + " " + quoted, nearest.HintWithList(value, names, what)
		}
	case f.Format != "" && value != "":
		return checkFormat(value, f.Format)
	}
	return "", ""
}

// names lists the names that a ref tag can refer to.
func (c *Config) names(section string) []string {
	switch section {
	case "agents":
		return slices.Sorted(maps.Keys(c.Agents))
	case "agent_chains":
		return slices.Sorted(maps.Keys(c.Chains))
	case "mcp_servers":
		return slices.Sorted(maps.Keys(c.MCPServers))
	case "llm_providers":
		return slices.Sorted(maps.Keys(c.LLMProviders))
	case "fallback_lists":
		return slices.Sorted(maps.Keys(c.FallbackLists))
	case "label_maps":
		return slices.Sorted(maps.Keys(c.LabelMaps))
	case "alert_types":
		var names []string
		for _, t := range c.AlertTypes() {
			names = append(names, t.Name)
		}
		return names
	default:
		panic("config: no section " + section) // an invalid tag in this package
	}
}

// checkFormat is checkText for the format tag. It never repeats the value, because addresses and misplaced keys contain secrets.
func checkFormat(value, format string) (string, string) {
	switch format {
	case "public_url":
		return checkPublicURL(value)
	case "matcher":
		return checkMatcher(value)
	case "mapping":
		return checkParsed(field.Parse(value))
	case "path":
		return checkParsed(nil, field.CheckPath(value))
	}
	known, ok := formats()[format]
	if !ok {
		panic("config: no format " + format) // an invalid tag in this package
	}
	if known.valid(value) {
		return "", ""
	}
	return known.problem, known.hint
}

// valueFormat is one value of the format tag.
type valueFormat struct {
	valid         func(value string) bool
	problem, hint string
}

func formats() map[string]valueFormat {
	return map[string]valueFormat{
		"url": {
			func(v string) bool { return isURL(v, "http", "https") },
			"not an address", "it starts with http:// or https://",
		},
		"llm_url": {
			func(v string) bool { return isURL(v, "http", "https", "grpc", "grpcs") },
			"not an address", "it starts with http:// or https://, for type grpc with grpc:// or grpcs://",
		},
		"ws_url": {
			func(v string) bool { return isURL(v, "ws", "wss") },
			"not an address", "it starts with ws:// or wss://",
		},
		"discord_channel": {
			discordID.MatchString,
			"not a Discord ID", "write the number that Copy Channel ID gives, in quotes",
		},
		"discord_id": {
			func(v string) bool { return v == "*" || discordID.MatchString(v) },
			"not a Discord ID", "write the number that Copy ID gives, in quotes, or '*'",
		},
		"slack_channel": {
			slackChannelID.MatchString,
			"not the ID of a Slack channel", "it is at the end of the channel's details, such as C0123456789",
		},
		"slack_channels": {
			func(v string) bool { return v == "*" || slackChannelID.MatchString(v) },
			"not the ID of a Slack channel", "write one such as C0123456789, or '*'",
		},
		"slack_user": {
			slackUserID.MatchString,
			"not the ID of a Slack user", "Copy member ID in the profile gives it, such as U0123456789",
		},
		"slack_users": {
			func(v string) bool { return v == "*" || slackUserID.MatchString(v) },
			"not the ID of a Slack user", "write one such as U0123456789, or '*'",
		},
		"loopback": {
			isLoopback,
			"not a loopback address with a port", "write 127.0.0.1:9090; this listener has no authentication",
		},
		"cidr": {
			func(v string) bool { return parses(parseNetwork(v)) },
			"not a network", "write 10.0.0.0/8, or one address",
		},
		"origin": {
			func(v string) bool { return parses(origin.Parse(v)) },
			"not an origin pattern", "write https://dashboard.example.com, dashboard.example.com or *.example.com",
		},
		"env": {
			func(v string) bool { return anyVariableName.MatchString(v) && !looksSecret(v) },
			"not the name of an environment variable", "the name goes here, the key itself into the environment",
		},
		"domain": {
			func(v string) bool {
				_, ok := runbook.ParseDomain(v)
				return ok
			},
			"not a host name", "write docs.example.com or *.example.com, without https:// and path",
		},
		"argument_pattern": {
			func(v string) bool { return parses(match.Whole(v)) },
			"not a regular expression that can be used", "see https://github.com/google/re2/wiki/Syntax",
		},
		"mask_pattern": {
			func(v string) bool { return mask.CheckPattern(v) == nil },
			"not a regular expression that can be used", "see https://github.com/google/re2/wiki/Syntax",
		},
	}
}

// checkMatcher is checkFormat for matchers, whose errors need more than one hint.
func checkMatcher(value string) (string, string) {
	if _, err := match.Parse(value); err != nil {
		return "not a matcher", errors.Unwrap(err).Error()
	}
	return "", ""
}

// checkParsed is checkFormat for values whose parse error is more useful than a hint.
func checkParsed(_ any, err error) (string, string) {
	if err == nil {
		return "", ""
	}
	return err.Error(), ""
}

// isLoopback reports whether a listen address is reachable only from this machine.
func isLoopback(value string) bool {
	host, _, err := net.SplitHostPort(value)
	if err != nil {
		return false
	}
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

func isURL(value string, schemes ...string) bool {
	u, err := url.Parse(value)
	return err == nil && slices.Contains(schemes, u.Scheme) && u.Host != ""
}

func parses[T any](_ T, err error) bool { return err == nil }

// checkRequired finds missing required values.
func (c *Config) checkRequired() []Problem {
	var problems []Problem
	schema.Required(c, func(path, hint string) { problems = append(problems, c.problem(path, "is required", hint)) })
	return problems
}

// checkAlertTypes finds alert types without a name or claimed by more than one chain.
func (c *Config) checkAlertTypes() []Problem {
	var problems []Problem
	claims := make(map[string]string)
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		for i, name := range c.Chains[id].AlertTypes {
			path := fmt.Sprintf("%s.alert_types[%d]", joinPath("agent_chains", id), i)
			if name == "" {
				problems = append(problems, c.problem(path, "an alert type needs a name", ""))
				continue
			}
			if first, taken := claims[name]; taken {
				message := "alert type " + c.quote(path, name, leaf{}) + " already belongs to another chain"
				problems = append(problems, c.problem(path, message, "first claimed by "+first+", "+c.describePlace(first)))
				continue
			}
			claims[name] = path
		}
	}
	return problems
}

func (c *Config) describePlace(path string) string {
	if at := c.placeOf(path); at.File != "" {
		return at.String()
	}
	return originBuiltin
}

// checkLease ensures that a lease survives one late renewal.
func (c *Config) checkLease() []Problem {
	half := c.Queue.OrphanThreshold / 2
	if c.Queue.HeartbeatInterval < half {
		return nil
	}
	path := "queue.heartbeat_interval"
	if _, set := c.marks[path]; !set {
		path = "queue.orphan_threshold"
	}
	return []Problem{c.problem(path, fmt.Sprintf("heartbeat_interval (%s) must be less than half of orphan_threshold (%s)",
		schema.FormatDuration(c.Queue.HeartbeatInterval), schema.FormatDuration(c.Queue.OrphanThreshold)),
		"set heartbeat_interval below "+schema.FormatDuration(half))}
}

func (c *Config) checkTransport(path string, t Transport) []Problem {
	switch {
	case t.Type == TransportStdio && t.Command == "":
		return []Problem{c.problem(path+".command", "is required", "the program that transport type stdio starts")}
	case (t.Type == TransportHTTP || t.Type == TransportSSE) && t.URL == "":
		return []Problem{c.problem(path+".url", "is required", "the address that transport type "+t.Type+" calls")}
	default:
		return nil
	}
}

// checkMasking rejects groups that are both added and disabled.
func (c *Config) checkMasking(path string, masking *DataMasking) []Problem {
	if masking == nil {
		return nil
	}
	var problems []Problem
	for i, group := range masking.DisabledGroups {
		if slices.Contains(masking.PatternGroups, group) {
			problems = append(problems, c.problem(fmt.Sprintf("%s.disabled_groups[%d]", path, i), "pattern_groups names "+group+" too", ""))
		}
	}
	return problems
}
