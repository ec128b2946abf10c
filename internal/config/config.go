package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"tarsy.dev/tarsy/internal/schema"
)

// Config is the whole configuration. It is read-only once loaded and overridden, and can then be shared between goroutines.
type Config struct {
	System        System                     `yaml:"system" doc:"Server-wide settings."`
	Queue         Queue                      `yaml:"queue" doc:"Scheduling and time limits of sessions."`
	Alerts        Alerts                     `yaml:"alerts" doc:"Incoming alerts: receivers, routes, deduplication, storms; see docs/alerts.md."`
	NotePipeline  NotePipeline               `yaml:"notes" doc:"How notes are captured and processed; see docs/notes.md."`
	Defaults      Defaults                   `yaml:"defaults" doc:"Settings used unless a chain, stage or agent overrides them." reload:"sessions"`
	Agents        map[string]Agent           `yaml:"agents" doc:"Agents by name. An entry replaces the built-in agent of the same name." reload:"sessions"`
	Chains        map[string]Chain           `yaml:"agent_chains" doc:"Chains by id: their alert types and stages." reload:"sessions"`
	MCPServers    map[string]MCPServer       `yaml:"mcp_servers" doc:"MCP servers by id, which provide the agents' tools."`
	Approvals     Approvals                  `yaml:"approvals" doc:"Approval of tool calls by people; see docs/approvals.md." reload:"sessions"`
	LLMProviders  map[string]LLMProvider     `yaml:"llm_providers" doc:"Models by name."`
	FallbackLists map[string][]FallbackEntry `yaml:"fallback_lists" doc:"Named lists of models to try in order." reload:"sessions"`
	LabelMaps     map[string]LabelMap        `yaml:"label_maps" doc:"Named sets of labels for finished investigations." later:"true" reload:"sessions"`

	// Warnings are things that a person should know although the files are valid.
	Warnings []Warning `yaml:"-"`

	// marks records where each value that is not built in came from, by path.
	marks map[string]mark
	// variables contains the value of every {{.VAR}} in the files, by name.
	variables map[string]string
}

// Source is where a configuration is read from.
type Source struct {
	// Path is a directory of *.yaml and *.yml files, or one file. "" reads none.
	Path string
	// Files are read after Path. They contain configuration that is not on disk (demo, tests).
	Files []File
	// Env looks up {{.VAR}}; nil means that no variable is set.
	Env func(string) (string, bool)
}

// File is one YAML text and its name in error messages.
type File struct {
	Name string
	Text []byte
}

// Load reads src, merges it over the built-ins and checks the result. If the configuration is invalid, it returns an *Error that lists
// every problem.
func Load(src Source) (*Config, error) {
	files, err := readFiles(src.Path)
	if err != nil {
		return nil, err
	}
	files = append(files, src.Files...)
	env := src.Env
	if env == nil {
		env = noVariables
	}

	c := &Config{marks: make(map[string]mark)}
	schema.ApplyDefaults(reflect.ValueOf(c).Elem())
	dec := schema.NewDecoder(env)
	dec.Loose = schema.LooseKeys(reflect.TypeFor[Config]())
	for _, file := range files {
		dec.File(file.Name, file.Text, c)
	}
	c.Warnings, c.variables = dec.Warnings, dec.Variables
	for path, m := range dec.Marks {
		c.marks[path] = mark{place: m.Place, origin: m.Place.String(), hidden: m.Hidden}
	}
	c.addBuiltins(env)
	c.nameEntries()
	c.chooseProvider(env)
	problems := dec.Problems
	if !dec.Broken { // otherwise half of the entries would be missing and references to them unknown
		problems = append(problems, c.check(problems)...)
	}
	if len(problems) > 0 {
		return nil, newError(problems)
	}
	schema.SortWarnings(c.Warnings)
	return c, nil
}

// Validate checks the whole configuration again. Call it after the last Override, because an override can conflict with another setting.
func (c *Config) Validate() error {
	if problems := c.check(nil); len(problems) > 0 {
		return newError(problems)
	}
	return nil
}

// nameEntries copies the keys of the map sections into their entries, so that an entry can be passed on without its key.
func (c *Config) nameEntries() {
	for name, agent := range c.Agents {
		agent.Name = name
		c.Agents[name] = agent
	}
	for id, chain := range c.Chains {
		chain.ID = id
		c.Chains[id] = chain
	}
	for id, server := range c.MCPServers {
		server.ID = id
		c.MCPServers[id] = server
	}
	for name, provider := range c.LLMProviders {
		provider.Name = name
		c.LLMProviders[name] = provider
	}
	for name, receiver := range c.Alerts.Receivers {
		receiver.Name = name
		c.Alerts.Receivers[name] = receiver
	}
	for name, target := range c.Alerts.WriteBack {
		target.Name = name
		c.Alerts.WriteBack[name] = target
	}
}

// AlertType is a type of alert that can be submitted.
type AlertType struct {
	Name        string
	ChainID     string
	Description string
}

// ChainFor returns the chain for alerts of this type.
func (c *Config) ChainFor(alertType string) (Chain, bool) {
	for _, chain := range c.Chains {
		if slices.Contains(chain.AlertTypes, alertType) {
			return chain, true
		}
	}
	return Chain{}, false
}

// AlertTypes returns the alert types of all chains, sorted by name.
func (c *Config) AlertTypes() []AlertType {
	var types []AlertType
	for _, id := range slices.Sorted(maps.Keys(c.Chains)) {
		for _, name := range c.Chains[id].AlertTypes {
			types = append(types, AlertType{Name: name, ChainID: id, Description: c.Chains[id].Description})
		}
	}
	slices.SortFunc(types, func(a, b AlertType) int { return strings.Compare(a.Name, b.Name) })
	return types
}
